export type Method = 'GET' | 'PATCH' | 'POST';

/** Stability of an operation; `stable` has no header. */
export type Stability = 'stable' | 'experimental' | 'beta';

export interface Route {
  readonly method: Method;
  /** Path below the base address, with `{name}` for a path parameter. */
  readonly path: string;
  readonly stability: Stability;
}

/**
 * The route of every operation, by its name. The gateway's routes and 405 responses are derived from it. No
 * schemas here: the authorizer, part of every request, would build them in each cold start.
 */
export const routes = {
  listInventory: { method: 'GET', path: '/inventory', stability: 'stable' },
  getInventory: { method: 'GET', path: '/inventory/{petId}', stability: 'experimental' },
  updateInventory: { method: 'PATCH', path: '/inventory/{petId}', stability: 'experimental' },
  updateInventories: { method: 'PATCH', path: '/inventory', stability: 'experimental' },
  adjustInventory: { method: 'POST', path: '/inventory/{petId}/adjustments', stability: 'experimental' },
  getPet: { method: 'GET', path: '/pets/{petId}', stability: 'stable' },
  listOrders: { method: 'GET', path: '/store/orders', stability: 'beta' },
  getKey: { method: 'GET', path: '/key', stability: 'experimental' },
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof routes;

export const operationIds = Object.keys(routes).filter((id): id is OperationId => id in routes);

/** Methods of an operation: HEAD wherever GET is (RFC 9110 §9.1). */
export const methodsFor = (method: Method): readonly (Method | 'HEAD')[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Methods of the operations at a resource path; empty if there is none. */
export function methodsOf(resourcePath: string): (Method | 'HEAD')[] {
  return Object.values(routes)
    .filter(({ path }) => path === resourcePath)
    .flatMap(({ method }) => methodsFor(method));
}

/** Whether an operation writes; read-only tokens must not call it. */
export const isChange = (id: OperationId): boolean => routes[id].method !== 'GET';

/** The operation of a request to a resource path; undefined if there is none. */
export function operationAt(method: string, resourcePath: string): OperationId | undefined {
  return operationIds.find(
    (id) => routes[id].path === resourcePath && methodsFor(routes[id].method).some((own) => own === method),
  );
}
