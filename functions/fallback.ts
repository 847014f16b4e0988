import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf } from '../shared/contract/operations.ts';
import { allowedMethods } from '../shared/http/allowed-methods.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';

/** Every request that is no operation: 405 where the path has operations, else 404. */
export const handler = operationHandler(async ({ resource }) => {
  if (methodsOf(resource).length === 0) throw new ServiceError('ROUTE_NOT_FOUND');
  throw new ServiceError('METHOD_NOT_ALLOWED', { headers: allowedMethods(resource) });
});
