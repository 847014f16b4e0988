import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf, operations } from '../shared/contract/operations.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { type ApiRequest, quoted } from '../shared/http/request.ts';
import { allowedMethods } from '../shared/http/response-headers.ts';

/** Every request that is no operation: 405 where the path has operations, else 404. */
async function answerNoOperation({ resource, path, method }: ApiRequest): Promise<never> {
  const methods = methodsOf(resource);
  if (methods.length === 0) throw new ServiceError('ROUTE_NOT_FOUND', { message: nearMiss(path) });
  const message = `${resource} answers ${methods.join(', ')}, not ${quoted(method)}.`;
  throw new ServiceError('METHOD_NOT_ALLOWED', { message, headers: allowedMethods(resource) });
}

/** What to say of a path that differs from one of an operation by slashes or by case only. */
function nearMiss(path: string): string | undefined {
  const [base = '', ...segments] = path.split('/').filter((segment) => segment !== '');
  const near = Object.values(operations).find((operation) => {
    const expected = operation.path.split('/').slice(1);
    const fits = (segment: string, index: number) =>
      expected[index]?.startsWith('{') || expected[index] === segment.toLowerCase();
    return expected.length === segments.length && segments.every(fits);
  });
  return near && `There is nothing at this path: did you mean /${base}${near.path}?`;
}

export const handler = operationHandler(answerNoOperation);
