import { ServiceError } from '../shared/contract/errors.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import type { ApiRequest } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';

/** `GET /key`: the key as the authorizer has counted it, including this request. */
async function getKey({ authorizer }: ApiRequest) {
  const { plan, token, access, expiresAt, limits } = authorizer;
  // During a canary the authorizer may be of a release without these values.
  if (limits === undefined) throw new ServiceError('SERVICE_UNAVAILABLE');
  const body = JSON.stringify({ plan, token, access, expiresAt, limits: JSON.parse(limits) as unknown });
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, body };
}

export const { handler, initialize } = operationHandler(getKey, { headers: stabilityHeader('getKey') });
