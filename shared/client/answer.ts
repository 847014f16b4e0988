import type { InventoryItemOf, InventoryUpdateResultOf, OrderOf, PetOf } from '../contract/records.ts';

export type { KeyDetails, KeyLimit, OrderStatus, PetStatus } from '../contract/records.ts';
export type InventoryItem = InventoryItemOf<bigint>;
export type InventoryUpdateResult = InventoryUpdateResultOf<bigint>;
export type Order = OrderOf<bigint>;
export type Pet = PetOf<bigint>;

/** What is left of the limits of the API key, in the window (minute or day) that has the least left. */
export interface Limits {
  /** Requests in the window. */
  readonly limit: number;
  readonly remaining: number;
  /** When it ends, to the second. */
  readonly reset: Date;
}

/** A good answer of the service. */
export interface Answer<T> {
  readonly data: T;
  /** Undefined where the answer does not say. */
  readonly limits: Limits | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** Names this state of what was answered: give it as `ifMatch` to an update that must not overwrite a later one. */
  readonly etag: string | undefined;
  /** The answer itself, for its other headers. Its body is read already. */
  readonly response: Response;
}

export interface Page<T> extends Answer<readonly T[]> {
  /** The `cursor` of the next page; undefined on the last one. A page with a `status` may be empty and yet have one. */
  readonly next: string | undefined;
}
