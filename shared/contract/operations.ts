import type { ErrorCode } from './errors.ts';
import { petStatusSchema } from './inventory.ts';
import { type ListParameters, listParameters, petIdsSchema } from './list-parameters.ts';
import { orderStatusSchema } from './orders.ts';

/** The version of the interface (spec §9, rule 1). Its major number is the last segment of the base address. */
export const API_VERSION = '1.0.0';

export type Method = 'GET' | 'PATCH' | 'POST';

/** How settled an operation is; the marks that the spec names (§9, rule 2), and `stable` for one without a mark. */
export type Stability = 'stable' | 'experimental' | 'beta';

export interface Operation {
  readonly method: Method;
  /** Path below the base address, with `{name}` for a path parameter. */
  readonly path: string;
  readonly stability: Stability;
  readonly purpose: string;
  readonly deprecated?: true;
  /** The query parameters that it takes, where it lists. */
  readonly query?: ListParameters;
  /** Errors that this operation answers with beside {@link everyOperationErrors}. */
  readonly errors: readonly ErrorCode[];
}

/** Errors of an operation that changes the stock of one pet. */
const errorsOfChange = [
  'INVALID_PET_ID',
  'INVALID_BODY',
  'INVALID_HEADER',
  'TOKEN_READ_ONLY',
  'PET_NOT_FOUND',
  'PRECONDITION_FAILED',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
] as const satisfies readonly ErrorCode[];

/** Every operation of the interface, by its name in the spec (§4). Routes and 405 answers are derived from it. */
export const operations = {
  listInventory: {
    method: 'GET',
    path: '/inventory',
    stability: 'stable',
    purpose: 'List the stock of every pet',
    query: { ...listParameters(petStatusSchema), petId: petIdsSchema },
    errors: ['INVALID_QUERY', 'INVALID_CURSOR'],
  },
  getInventory: {
    method: 'GET',
    path: '/inventory/{petId}',
    stability: 'experimental',
    purpose: 'Get the stock of one pet',
    errors: ['INVALID_PET_ID', 'PET_NOT_FOUND'],
  },
  updateInventory: {
    method: 'PATCH',
    path: '/inventory/{petId}',
    stability: 'experimental',
    purpose: 'Set the stock of one pet',
    errors: errorsOfChange,
  },
  updateInventories: {
    method: 'PATCH',
    path: '/inventory',
    stability: 'experimental',
    purpose: 'Set the stock of up to 25 pets',
    errors: ['INVALID_BODY', 'INVALID_HEADER', 'TOKEN_READ_ONLY', 'UNSUPPORTED_MEDIA_TYPE'],
  },
  adjustInventory: {
    method: 'POST',
    path: '/inventory/{petId}/adjustments',
    stability: 'experimental',
    purpose: 'Add to the stock of one pet, or take from it',
    errors: [...errorsOfChange, 'INSUFFICIENT_STOCK'],
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    stability: 'stable',
    purpose: 'Get a pet',
    deprecated: true,
    errors: ['INVALID_PET_ID', 'PET_NOT_FOUND'],
  },
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    stability: 'beta',
    purpose: 'List the orders',
    query: listParameters(orderStatusSchema),
    errors: ['INVALID_QUERY', 'INVALID_CURSOR'],
  },
  getKey: {
    method: 'GET',
    path: '/key',
    stability: 'experimental',
    purpose: 'Get plan, limits and end of the key that asks',
    errors: [],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

/** An operation that lists. */
export type ListId = {
  [Id in OperationId]: (typeof operations)[Id] extends { query: object } ? Id : never;
}[OperationId];

export const operationIds = Object.keys(operations).filter((id): id is OperationId => id in operations);

/** Errors that any operation can answer with: of the gateway, the API key, its limits, the service itself. */
export const everyOperationErrors = [
  'BAD_REQUEST',
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'FORBIDDEN',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'DAILY_QUOTA_EXCEEDED',
  'API_KEY_SUSPENDED',
  'TOO_MANY_REQUESTS',
  'INTERNAL_ERROR',
  'BAD_GATEWAY',
  'SERVICE_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
] as const satisfies readonly ErrorCode[];

/** Methods that call an operation: what can be got can be asked for without its body too (RFC 9110 §9.1). */
export const methodsFor = (method: Method): readonly (Method | 'HEAD')[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Methods that the operations at a resource path answer; empty where none lives. */
export function methodsOf(resourcePath: string): (Method | 'HEAD')[] {
  return Object.values(operations)
    .filter(({ path }) => path === resourcePath)
    .flatMap(({ method }) => methodsFor(method));
}

/** Whether an operation changes something, which a token that may only read must not. */
export const isChange = (id: OperationId): boolean => operations[id].method !== 'GET';

/** The operation that a request to a resource path is; undefined for one that is none. */
export function operationAt(method: string, resourcePath: string): OperationId | undefined {
  return operationIds.find(
    (id) => operations[id].path === resourcePath && methodsFor(operations[id].method).some((own) => own === method),
  );
}
