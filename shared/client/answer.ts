import type { Limits } from './limits.ts';
import type { components } from './schema.ts';

/** Stock level of one pet. */
export type InventoryItem = components['schemas']['InventoryItem'];
/** Status of a pet. */
export type PetStatus = components['schemas']['PetStatus'];
/** An order for a pet. */
export type Order = components['schemas']['Order'];
/** How far an order has come. */
export type OrderStatus = components['schemas']['OrderStatus'];
/** A pet, with the status of its stock entry. */
export type Pet = components['schemas']['Pet'];

/** A good answer of the service. */
export interface Answer<T> {
  readonly data: T;
  /** What is left of the limits of the API key; undefined where the answer does not say. */
  readonly limits: Limits | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
}

/** The answer to an update. */
export interface UpdateAnswer extends Answer<InventoryItem> {
  /** Names this state of the entry: give it as `ifMatch` to an update that must not overwrite a later one. */
  readonly etag: string | undefined;
}

/** The answer of an operation that is going to end. */
export interface DeprecatedAnswer<T> extends Answer<T> {
  /** Since when the operation is deprecated. */
  readonly deprecation: Date | undefined;
  /** When it may stop answering. */
  readonly sunset: Date | undefined;
}

/** A page of a list. */
export interface Page<T> extends Answer<readonly T[]> {
  /** The `cursor` of the next page; undefined on the last one. */
  readonly next: string | undefined;
}
