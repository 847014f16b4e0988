import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf } from '../shared/contract/operations.ts';
import { withHealthCheck } from '../shared/health-check.ts';
import { allowedMethods } from '../shared/http/response-headers.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';

const answerNoOperation = operationHandler(async ({ resource }) => {
  if (methodsOf(resource).length === 0) throw new ServiceError('ROUTE_NOT_FOUND');
  throw new ServiceError('METHOD_NOT_ALLOWED', { headers: allowedMethods(resource) });
});

/** Every request that is no operation: 405 where the path has operations, else 404. It calls nothing. */
export const handler = withHealthCheck(async () => undefined, answerNoOperation);
