export * from './inventory-client.ts';
export * from './client-errors.ts';
export type * from './client-options.ts';
export type * from './api-response.ts';
