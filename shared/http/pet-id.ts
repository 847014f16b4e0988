import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, isInt64 } from '../contract/int64.ts';

/** The path parameter `petId` (spec §4.2). Throws ServiceError INVALID_PET_ID where it is not an int64. */
export function parsePetId({ pathParameters }: APIGatewayProxyEvent): Int64 {
  const petId = pathParameters?.petId ?? '';
  if (!isInt64(petId)) throw new ServiceError('INVALID_PET_ID');
  return petId;
}
