/**
 * Types and rules shared by service and client: the records of the API as plain types, over the type of their int64s
 * (text in the service, bigint in the client). No schemas: the client's package needs no validator.
 */

/** The version of the API. Its major number is the last segment of the base URL. */
export const API_VERSION = '1.0.0';

declare const int64: unique symbol;

/**
 * A 64-bit signed integer as canonical decimal text, such as `9223372036854775807`.
 * It is never a JavaScript number: above 2^53 a number would change the digits.
 */
export type Int64 = string & { readonly [int64]: never };

const CANONICAL_DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Whether the text is an int64 in canonical decimal: no sign but `-`, no leading zeros, in range. */
export function isInt64(text: string): text is Int64 {
  return CANONICAL_DECIMAL.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Largest stock quantity: the largest int32. */
export const MAX_QUANTITY = 2_147_483_647;

/** An ETag of a stock entry. */
export const ENTRY_TAG = /^"[\w-]{1,98}"$/;

/** The fields that are int64, wherever they are. */
export const int64Fields: readonly string[] = ['id', 'petId'];

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

/** Statuses an order can have (the public Petstore's). */
export const orderStatuses = ['placed', 'approved', 'delivered'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Stock level of one pet. */
export interface InventoryItemOf<Int> {
  /** The pet of the entry. */
  readonly petId: Int;
  readonly quantity: number;
  readonly status: PetStatus;
}

/** The fields of an entry that clients set; omitted ones stay unchanged. */
export type InventoryUpdateOf<Int> = Pick<InventoryItemOf<Int>, 'quantity'>;

/** Result of one row of `PATCH /inventory`. */
export type InventoryUpdateResultOf<Int> =
  | { readonly petId: Int; readonly status: 200; readonly etag: string; readonly item: InventoryItemOf<Int> }
  | {
      readonly petId: Int;
      readonly status: 404 | 412 | 422 | 500 | 503;
      readonly error: RowError;
      /** The current ETag of the entry, with status 412. */
      readonly etag?: string | undefined;
    };

/** The Error body that a single update would return. */
export interface RowError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

/** A kind of animal, or a label of a pet. */
export interface LabelOf<Int> {
  readonly id: Int;
  readonly name: string;
}

/** A pet as it is stored: the public Petstore's record. */
export interface PetRecordOf<Int> {
  /** The petId. */
  readonly id: Int;
  readonly category?: LabelOf<Int> | undefined;
  readonly name: string;
  readonly photoUrls: readonly string[];
  readonly tags?: readonly LabelOf<Int>[] | undefined;
}

/** A pet as the API returns it. */
export interface PetOf<Int> extends PetRecordOf<Int> {
  /** Status of the stock entry; absent if there is none. */
  readonly status?: PetStatus | undefined;
}

/** An order: the public Petstore's record. */
export interface OrderOf<Int> {
  readonly id: Int;
  readonly petId: Int;
  readonly quantity: number;
  /** RFC 3339. */
  readonly shipDate?: string | undefined;
  readonly status: OrderStatus;
  readonly complete: boolean;
}

/** Access, limits and remaining quota of a key. */
export interface KeyDetails {
  readonly plan: string;
  /** The request's token: its label, and the last four characters of the API key. Absent during a release. */
  readonly token?: string;
  /** `read`: read-only. */
  readonly access: 'full' | 'read';
  /** When the key expires, ISO 8601; absent: never. */
  readonly expiresAt?: string;
  readonly limits: readonly KeyLimit[];
}

/** One of the windows that limit a key. */
export interface KeyLimit {
  readonly window: 'minute' | 'day';
  readonly limit: number;
  readonly remaining: number;
  /** ISO 8601. */
  readonly resetsAt: string;
}
