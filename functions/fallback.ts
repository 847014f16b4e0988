import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf } from '../shared/contract/operations.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import type { ApiRequest } from '../shared/http/request.ts';
import { allowedMethods } from '../shared/http/response-headers.ts';

/** Every request that is no operation: 405 where the path has operations, else 404. */
async function answerNoOperation({ resource }: ApiRequest): Promise<never> {
  if (methodsOf(resource).length === 0) throw new ServiceError('ROUTE_NOT_FOUND');
  throw new ServiceError('METHOD_NOT_ALLOWED', { headers: allowedMethods(resource) });
}

export const handler = operationHandler(answerNoOperation);
