import * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import { int64Schema, integerFrom } from './int64.ts';
import { petStatusSchema } from './inventory.ts';
import { orderStatusSchema } from './orders.ts';
import { type OperationId, type Route, routes } from './routes.ts';

/** Max entries per page of a list. */
export const MAX_LIMIT = 1_000;

export const limitSchema = v.pipe(
  integerFrom(1, MAX_LIMIT),
  v.description(
    'Max entries per page; the Link header has the URL of the next. Without it: the complete list, streamed.',
  ),
);

export const cursorSchema = v.pipe(
  v.string(),
  v.regex(/^[\w-]{1,200}$/, 'must be copied unchanged from a Link header'),
  v.description('Start of the page, copied from the Link header of the previous one'),
);

/** Max entries that a client may request by id. */
export const MAX_IDS = 100;
export const IDS_RULE = `must be 1 to ${MAX_IDS} different int64s with commas between, such as 101,103`;

export const petIdsSchema = v.pipe(
  v.array(int64Schema, IDS_RULE),
  v.maxLength(MAX_IDS, IDS_RULE),
  v.check((ids) => new Set(ids).size === ids.length, IDS_RULE),
  v.description(
    'Only the entries of these pets, strongly consistent; repeated, or once with commas; excludes other parameters',
  ),
);

/** The query parameters of a list whose entries have one of these statuses. */
export const listParameters = (status: v.PicklistSchema<readonly string[], string>) => ({
  limit: limitSchema,
  cursor: cursorSchema,
  status: v.pipe(status, v.description('Only entries with this status')),
});

export interface ListParameters extends ReturnType<typeof listParameters> {
  readonly petId?: typeof petIdsSchema;
}

export interface Operation extends Route {
  readonly purpose: string;
  readonly deprecated?: true;
  /** The query parameters of a list; other operations have none. Any other parameter is refused. */
  readonly query?: ListParameters;
  /** Errors of this operation, in addition to {@link everyOperationErrors}. */
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
  'UPDATE_OUTCOME_UNKNOWN',
] as const satisfies readonly ErrorCode[];

/** Every operation of the interface, by its name. */
export const operations = {
  listInventory: {
    ...routes.listInventory,
    purpose: 'List the stock of every pet',
    query: { ...listParameters(petStatusSchema), petId: petIdsSchema },
    errors: ['INVALID_CURSOR'],
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
    errors: ['INVALID_BODY', 'INVALID_HEADER', 'TOKEN_READ_ONLY', 'UNSUPPORTED_MEDIA_TYPE'],
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
    errors: ['INVALID_CURSOR'],
  },
  getKey: { ...routes.getKey, purpose: "Get plan, limits and expiry of the request's key", errors: [] },
} as const satisfies Record<OperationId, Operation>;

export type ListId = {
  [Id in OperationId]: (typeof operations)[Id] extends { query: object } ? Id : never;
}[OperationId];

/** Errors that any operation can return: of the gateway, the query, the API key, its limits, the service itself. */
export const everyOperationErrors = [
  'BAD_REQUEST',
  'INVALID_QUERY',
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
