import type { InventoryItemOf, InventoryUpdateResultOf, OrderOf, PetOf } from '../contract/records.ts';

export type { KeyDetails, KeyLimit, OrderStatus, PetStatus } from '../contract/records.ts';
export type InventoryItem = InventoryItemOf<bigint>;
export type InventoryUpdateResult = InventoryUpdateResultOf<bigint>;
export type Order = OrderOf<bigint>;
export type Pet = PetOf<bigint>;

/** Limit and remaining quota of the API key, in the window (minute or day) with the lowest remaining quota. */
export interface Limits {
  /** Requests in the window. */
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, to the second. */
  readonly reset: Date;
}

/** A successful response of the service. */
export interface Answer<T> {
  readonly data: T;
  /** Undefined if the response has no such headers. */
  readonly limits: Limits | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** Version of the resource: pass it as `ifMatch` to an update that must not overwrite a later version. */
  readonly etag: string | undefined;
  /** The response itself, for its other headers. Its body has been read. */
  readonly response: Response;
}

export interface Page<T> extends Answer<readonly T[]> {
  /** The `cursor` of the next page; undefined on the last one. A page with a `status` may be empty and yet have one. */
  readonly next: string | undefined;
}
