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

/**
 * What may have been meant: the path that differs by slashes or by case only, or else those with a part that begins as one
 * of the path asked for, or else all of them.
 */
function nearMiss(path: string): string {
  const [base, ...segments] = path.split('/').filter(Boolean);
  const asked = segments.map((segment) => segment.toLowerCase());
  const all = [...new Set(Object.values(operations).map((operation) => operation.path))];
  const fits = all.filter((known) => {
    const parts = known.split('/').slice(1);
    return parts.length === asked.length && parts.every((part, at) => part.startsWith('{') || part === asked[at]);
  });
  const near = all.filter((known) => known.split('/').some((part) => asked.some((one) => part.startsWith(one))));
  const meant = [fits, near].find(({ length }) => length > 0) ?? all;
  return `There is nothing at ${quoted(path)}: did you mean ${meant.map((known) => `/${base}${known}`).join(' or ')}?`;
}

export const { handler, initialise } = operationHandler(answerNoOperation);
