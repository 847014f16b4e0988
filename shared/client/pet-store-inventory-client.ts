export { InventoryClient, type InventoryUpdate, type InventoryUpdateRow, type PetId } from './inventory-client.ts';
export type * from './client-options.ts';
export type * from './answer.ts';
export { ApiError, ConnectionError, type ConnectionFailure, type ErrorCode } from './client-errors.ts';
