import type { ErrorCode } from './errors.ts';
import { petStatusSchema } from './inventory.ts';
import { type ListParameters, listParameters, petIdsSchema } from './list-parameters.ts';
import { orderStatusSchema } from './orders.ts';
import { type OperationId, type Route, routes } from './routes.ts';

/** The version of the API. Its major number is the last segment of the base URL. */
export const API_VERSION = '1.0.0';

export interface Operation extends Route {
  readonly purpose: string;
  readonly deprecated?: true;
  /** The query parameters of a list. */
  readonly query?: ListParameters;
  /** Errors of this operation, in addition to {@link everyOperationErrors}. */
  readonly errors: readonly ErrorCode[];
}

/** Errors of an operation that changes the stock of one pet. */
const errorsOfChange = [
  'INVALID_PET_ID',
  'INVALID_QUERY',
  'INVALID_BODY',
  'INVALID_HEADER',
  'TOKEN_READ_ONLY',
  'PET_NOT_FOUND',
  'PRECONDITION_FAILED',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
] as const satisfies readonly ErrorCode[];

/** Every operation of the interface, by its name. */
export const operations = {
  listInventory: {
    ...routes.listInventory,
    purpose: 'List the stock of every pet',
    query: { ...listParameters(petStatusSchema), petId: petIdsSchema },
    errors: ['INVALID_QUERY', 'INVALID_CURSOR'],
  },
  getInventory: {
    ...routes.getInventory,
    purpose: 'Get the stock of one pet',
    errors: ['INVALID_PET_ID', 'PET_NOT_FOUND'],
  },
  updateInventory: { ...routes.updateInventory, purpose: 'Set the stock of one pet', errors: errorsOfChange },
  updateInventories: {
    ...routes.updateInventories,
    purpose: 'Set the stock of up to 25 pets',
    errors: ['INVALID_QUERY', 'INVALID_BODY', 'INVALID_HEADER', 'TOKEN_READ_ONLY', 'UNSUPPORTED_MEDIA_TYPE'],
  },
  adjustInventory: {
    ...routes.adjustInventory,
    purpose: 'Add to the stock of one pet, or subtract from it',
    errors: [...errorsOfChange, 'INSUFFICIENT_STOCK'],
  },
  getPet: {
    ...routes.getPet,
    purpose: 'Get a pet',
    deprecated: true,
    errors: ['INVALID_PET_ID', 'PET_NOT_FOUND'],
  },
  listOrders: {
    ...routes.listOrders,
    purpose: 'List the orders',
    query: listParameters(orderStatusSchema),
    errors: ['INVALID_QUERY', 'INVALID_CURSOR'],
  },
  getKey: { ...routes.getKey, purpose: "Get plan, limits and expiry of the request's key", errors: [] },
} as const satisfies Record<OperationId, Operation>;

/** An operation that lists. */
export type ListId = {
  [Id in OperationId]: (typeof operations)[Id] extends { query: object } ? Id : never;
}[OperationId];

/** Errors that any operation can return: of the gateway, the API key, its limits, the service itself. */
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
