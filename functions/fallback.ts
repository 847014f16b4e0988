import { ServiceError } from '../shared/contract/errors.ts';
import { methodsOf, routes } from '../shared/contract/routes.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { type ApiRequest, quoted } from '../shared/http/request.ts';
import { allowedMethods } from '../shared/http/response-headers.ts';

/** Every request without an operation: 405 if the path has operations, else 404. */
async function refuseUnknownOperation({ resource, path, method }: ApiRequest): Promise<never> {
  const methods = methodsOf(resource);
  // The stage is the version.
  const [, version = ''] = path.split('/');
  if (methods.length === 0) throw new ServiceError('ROUTE_NOT_FOUND', { message: notFound(path, resource, version) });
  const message = `/${version}${resource} supports ${methods.join(', ')}, not ${quoted(method)}.`;
  throw new ServiceError('METHOD_NOT_ALLOWED', { message, headers: allowedMethods(resource) });
}

function notFound(path: string, resource: string, version: string): string {
  const slash = path.endsWith('/') && resource !== '/' ? ' Remove the trailing slash.' : '';
  const known = new Set(Object.values(routes).map((route) => `/${version}${route.path}`));
  return `There is nothing at ${quoted(path)}.${slash} Known paths: ${[...known].join(', ')}.`;
}

export const { handler, initialize } = operationHandler(refuseUnknownOperation);
