import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf } from '../shared/contract/operations.ts';
import { withHealthCheck } from '../shared/health-check.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';

const answerNoOperation = operationHandler(async ({ resource }) => {
  const methods = methodsOf(resource);
  if (methods.length === 0) throw new ServiceError('ROUTE_NOT_FOUND');
  throw new ServiceError('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } });
});

/** Every request that is no operation: 405 where the path has operations, else 404. It calls nothing. */
export const handler = withHealthCheck(async () => undefined, answerNoOperation);
