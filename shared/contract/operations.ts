export type Method = 'GET' | 'PATCH';

/** How settled an operation is (spec §9, rule 2). */
export type Stability = 'stable' | 'experimental' | 'beta';

export interface Operation {
  readonly method: Method;
  /** Path below the base address, with `{name}` for a path parameter. */
  readonly path: string;
  readonly stability: Stability;
  readonly purpose: string;
}

/** Every operation of the interface, by its name in the spec (§4). Routes and 405 answers are derived from it. */
export const operations = {
  listInventory: {
    method: 'GET',
    path: '/inventory',
    stability: 'stable',
    purpose: 'Current stock levels of all pets in the store',
  },
  updateInventory: {
    method: 'PATCH',
    path: '/inventory/{petId}',
    stability: 'experimental',
    purpose: 'Set the stock quantity of one pet',
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

/** Methods that a resource path answers, for `Allow` (RFC 9110 §10.2.1); empty where no operation lives. */
export function methodsOf(resourcePath: string): Method[] {
  return Object.values(operations)
    .filter(({ path }) => path === resourcePath)
    .map(({ method }) => method);
}
