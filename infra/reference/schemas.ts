import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { SchemaObject } from 'openapi3-ts/oas31';
import * as v from 'valibot';
import { type ErrorCode, errorCatalogue } from '../../shared/contract/errors.ts';
import { inventoryItemSchema, inventoryUpdateSchema, petStatusSchema } from '../../shared/contract/inventory.ts';
import { type Int64, int64Schema, int64ToJson } from '../../shared/contract/int64.ts';
import { orderSchema, orderStatusSchema } from '../../shared/contract/orders.ts';
import { petCategorySchema, petSchema, petTagSchema } from '../../shared/contract/pets.ts';
import { guidedErrors } from './error-page.ts';

/** Text as an int64. @throws ValiError where it is none */
export const int64 = (text: string): Int64 => v.parse(int64Schema, text);

const MIN_INT64 = int64('-9223372036854775808');
const MAX_INT64 = int64('9223372036854775807');

/** An integer that is never negative. */
export const countSchema: SchemaObject = { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 };

/** Schemas that have a name in the document, by which others refer to them. */
const named = new Map<unknown, string>([
  [petStatusSchema, 'PetStatus'],
  [orderStatusSchema, 'OrderStatus'],
  [petCategorySchema, 'PetCategory'],
  [petTagSchema, 'PetTag'],
]);

const [int64Text, int64Guard] = int64Schema.pipe;

/** A reference to a schema among the document's components. */
export const schemaRef = (name: string): SchemaObject => ({ $ref: `#/components/schemas/${name}` });

/** An int64 from `minimum` on, with bounds that keep all their digits in JSON. */
export function int64From(minimum: Int64 = MIN_INT64): SchemaObject {
  return { type: 'integer', format: 'int64', ...int64Bounds(minimum) };
}

const int64Bounds = (minimum: Int64): Record<string, unknown> => ({
  minimum: int64ToJson(minimum),
  maximum: int64ToJson(MAX_INT64),
});

/**
 * A schema that validates at run time, as OpenAPI has it: JSON Schema 2020-12.
 *
 * @throws Error where JSON Schema cannot say the same
 */
export function schemaOf(schema: v.GenericSchema): SchemaObject {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === int64Text) return { type: 'integer', format: 'int64', ...int64Bounds(MIN_INT64) };
      const name = valibotSchema === schema ? undefined : named.get(valibotSchema);
      return name === undefined ? undefined : { $ref: `#/components/schemas/${name}` };
    },
    overrideAction,
  });
  if (isOfOpenApi(converted)) return converted;
  throw new Error('A schema of the contract cannot be put in OpenAPI');
}

const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (valibotAction === int64Guard) return jsonSchema;
  // A slash needs no escape but in JavaScript's own literals.
  if (valibotAction.type === 'regex') return { ...jsonSchema, pattern: sourceOf(valibotAction) };
  // All plain integers of the contract have bounds within int32.
  return valibotAction.type === 'integer' ? { ...jsonSchema, format: 'int32' } : undefined;
};

const sourceOf = (action: unknown): string =>
  v.parse(v.object({ requirement: v.instance(RegExp) }), action).requirement.source.replaceAll(String.raw`\/`, '/');

/** The converter's type is that of draft-07, which knows schemas that are just `true`; it never writes those. */
const isOfOpenApi = (schema: object): schema is SchemaObject => 'type' in schema || '$ref' in schema;

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
  PetCategory: { description: 'A kind of animal', ...schemaOf(petCategorySchema) },
  PetTag: { description: 'A label of a pet', ...schemaOf(petTagSchema) },
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
    {
      type: 'object',
      properties: { code: { type: 'string', enum: [...codes] }, status: { type: 'integer', const: status } },
    },
  ],
});
