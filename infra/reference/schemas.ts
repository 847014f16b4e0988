import type { SchemaObject } from 'openapi3-ts/oas31';
import { type ErrorCode, errorCatalogue } from '../../shared/contract/errors.ts';
import { inventoryItemSchema, inventoryUpdateSchema, petStatusSchema } from '../../shared/contract/inventory.ts';
import { orderSchema, orderStatusSchema } from '../../shared/contract/orders.ts';
import { petSchema } from '../../shared/contract/pets.ts';
import { guidedErrors } from './error-pages.ts';
import { schemaOf, schemaRef } from './json-schema.ts';

const statuses = Object.values(errorCatalogue).map(({ status }) => status);

/** Of the message of an error, in characters. */
const MAX_MESSAGE = 1_000;
const ONE_LINE = String.raw`^[^\r\n]+$`;

const listOf = (name: string, description: string): SchemaObject => ({
  type: 'array',
  items: schemaRef(name),
  description,
});

/** Every shape that a request or an answer can have, by its name in the document. */
export const schemas = {
  InventoryItem: { description: 'Stock level of one pet', ...schemaOf(inventoryItemSchema) },
  InventoryList: listOf('InventoryItem', 'Stock levels, ascending by petId'),
  InventoryUpdate: { description: 'What an update sets', ...schemaOf(inventoryUpdateSchema) },
  PetStatus: { description: 'Status of a pet', ...schemaOf(petStatusSchema) },
  Pet: { description: 'A pet, with the status of its stock entry', ...schemaOf(petSchema) },
  Order: { description: 'An order for a pet', ...schemaOf(orderSchema) },
  OrderList: listOf('Order', 'Orders, ascending by id'),
  OrderStatus: { description: 'How far an order has come', ...schemaOf(orderStatusSchema) },
  Error: {
    description: 'Body of every answer that is an error',
    type: 'object',
    properties: {
      code: {
        type: 'string',
        enum: guidedErrors.map(({ code }) => code),
        description: 'Machine-readable error code: what a program goes by',
      },
      message: {
        type: 'string',
        pattern: ONE_LINE,
        maxLength: MAX_MESSAGE,
        description: 'Human-readable description, one line; its words may change',
      },
      status: {
        type: 'integer',
        format: 'int32',
        minimum: Math.min(...statuses),
        maximum: Math.max(...statuses),
        description: 'The HTTP status code',
      },
    },
    required: ['code', 'message', 'status'],
    additionalProperties: false,
  },
} as const satisfies Record<string, SchemaObject>;

export type SchemaName = keyof typeof schemas;

/** The Error body of a status, which can have these codes only. */
export const errorSchema = (status: number, codes: readonly ErrorCode[]): SchemaObject => ({
  allOf: [
    schemaRef('Error'),
    { type: 'object', properties: { code: { enum: [...codes] }, status: { const: status } } },
  ],
});
