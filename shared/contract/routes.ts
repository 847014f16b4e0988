export type Method = 'GET' | 'PATCH' | 'POST';

/** How settled an operation is; `stable`: it has no mark. */
export type Stability = 'stable' | 'experimental' | 'beta';

export interface Route {
  readonly method: Method;
  /** Path below the base address, with `{name}` for a path parameter. */
  readonly path: string;
  readonly stability: Stability;
}

/**
 * The route of every operation, by its name. The gateway's routes and 405 answers are derived from it. No
 * schemas here: the authorizer, which every request waits for, would have to build them in each cold start.
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

/** Methods that call an operation: what can be got can be asked for without its body too (RFC 9110 §9.1). */
export const methodsFor = (method: Method): readonly (Method | 'HEAD')[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Methods that the operations at a resource path answer; empty where none lives. */
export function methodsOf(resourcePath: string): (Method | 'HEAD')[] {
  return Object.values(routes)
    .filter(({ path }) => path === resourcePath)
    .flatMap(({ method }) => methodsFor(method));
}

/** Whether an operation changes something, which a token that may only read must not. */
export const isChange = (id: OperationId): boolean => routes[id].method !== 'GET';

/** The operation that a request to a resource path is; undefined for one that is none. */
export function operationAt(method: string, resourcePath: string): OperationId | undefined {
  return operationIds.find(
    (id) => routes[id].path === resourcePath && methodsFor(routes[id].method).some((own) => own === method),
  );
}
