import type { InventoryItemOf, InventoryUpdateResultOf, OrderOf, PetOf, RowError } from '../contract/records.ts';

export type { KeyDetails, KeyLimit, OrderStatus, PetStatus } from '../contract/records.ts';
export type InventoryItem = InventoryItemOf<bigint>;
/** Result of one row: by its `outcome` it was written, was not, or may have been. */
export type InventoryUpdateResult =
  | (Extract<InventoryUpdateResultOf<bigint>, { status: 200 }> & {
      readonly outcome: 'applied';
      readonly error?: undefined;
    })
  | {
      readonly petId: bigint;
      readonly outcome: 'not-applied' | 'unknown';
      /** Of the row, or of its request; undefined if that got no response. */
      readonly status: number | undefined;
      readonly error: RowError | Error;
      /** The current ETag of the entry, with status 412. */
      readonly etag?: string | undefined;
    };
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
export interface ApiResponse<T> {
  readonly data: T;
  /** Undefined if the response does not say them. */
  readonly limits: Limits | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** Version of the resource: pass it as `ifMatch` to an update that must not overwrite a later version. */
  readonly etag: string | undefined;
  /** The response itself, for its other headers. Its body has been read. */
  readonly response: Response;
}

export interface Page<T> extends ApiResponse<readonly T[]> {
  /** The `cursor` of the next page; undefined on the last one. A page with a `status` may be empty and yet have one. */
  readonly next: string | undefined;
}
