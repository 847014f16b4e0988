export { InventoryClient, type CallOptions, type UpdateOptions } from './inventory-client.ts';
export type { InventoryClientOptions, Retry } from './client-options.ts';
export type { ListOptions, PageOptions } from './list.ts';
export type { PetId } from './pet-id.ts';
export type {
  Answer,
  DeprecatedAnswer,
  InventoryItem,
  Order,
  OrderStatus,
  Page,
  Pet,
  PetStatus,
  UpdateAnswer,
} from './answer.ts';
export type { Limits, LimitWindow } from './limits.ts';
export { ApiError, type ApiErrorDetails, type ErrorCode } from './api-error.ts';
export { ConnectionError, type ConnectionFailure } from './connection-error.ts';
