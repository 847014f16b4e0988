import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { SchemaObject } from 'openapi3-ts/oas31';
import type * as v from 'valibot';
import { type ErrorCode, errorCatalog } from '../../shared/contract/errors.ts';
import {
  inventoryAdjustmentSchema,
  inventoryItemSchema,
  inventoryUpdateSchema,
  inventoryUpdatesSchema,
  MAX_UPDATES,
  petStatusSchema,
} from '../../shared/contract/inventory.ts';
import { keyDetailsSchema } from '../../shared/contract/key.ts';
import { int64Schema } from '../../shared/contract/int64.ts';
import { orderSchema, orderStatusSchema } from '../../shared/contract/orders.ts';
import { petCategorySchema, petSchema, petTagSchema } from '../../shared/contract/pets.ts';

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

/** Its format bounds it. As numbers, its bounds would lose digits in JavaScript. */
export const int64: SchemaObject = { type: 'integer', format: 'int64' };

/**
 * A schema that validates at run time, as OpenAPI has it: JSON Schema 2020-12.
 *
 * @throws Error where JSON Schema cannot say the same
 */
export function schemaOf(schema: v.GenericSchema): SchemaObject {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === int64Text) return { ...int64 };
      const name = valibotSchema === schema ? undefined : named.get(valibotSchema);
      return name === undefined ? undefined : { $ref: `#/components/schemas/${name}` };
    },
    overrideAction,
  });
  if (isOfOpenApi(converted)) return converted;
  throw new Error('A schema of the contract cannot be put in OpenAPI');
}

const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (valibotAction === int64Guard || valibotAction.type === 'check_items') return jsonSchema;
  // This check says of a list that its items differ; of a time, that its day exists, as a date-time does.
  if (valibotAction.type === 'check')
    return jsonSchema.type === 'array' ? { ...jsonSchema, uniqueItems: true } : jsonSchema;
  // All plain integers of the contract have bounds within int32.
  return valibotAction.type === 'integer' ? { ...jsonSchema, format: 'int32' } : undefined;
};

/** The converter's type is that of draft-07, which knows schemas that are just `true`; it never writes those. */
const isOfOpenApi = (schema: object): schema is SchemaObject => 'type' in schema || '$ref' in schema;

const listOf = (name: string, description: string): SchemaObject => ({
  type: 'array',
  items: schemaRef(name),
  description,
});

/** Every shape that a request or an answer can have, by its name in the document. */
export const schemas = {
  InventoryItem: { description: 'Stock level of one pet', ...schemaOf(inventoryItemSchema) },
  InventoryList: listOf('InventoryItem', 'Stock levels, ascending by petId'),
  InventoryUpdate: { description: 'What is set. Null takes optional fields away', ...schemaOf(inventoryUpdateSchema) },
  InventoryAdjustment: { description: 'What an adjustment adds', ...schemaOf(inventoryAdjustmentSchema) },
  InventoryUpdates: { description: 'Updates of different pets', ...schemaOf(inventoryUpdatesSchema) },
  InventoryUpdateResults: {
    ...listOf('InventoryUpdateResult', 'What became of each row, in the order of the rows'),
    maxItems: MAX_UPDATES,
  },
  InventoryUpdateResult: {
    description: 'What became of one row: the entry with its ETag, or the error that an update of it alone would get',
    type: 'object',
    properties: {
      petId: int64,
      status: {
        type: 'integer',
        format: 'int32',
        enum: [200, 404, 412, 500, 503],
        description: 'As of an update of it alone',
      },
      etag: { type: 'string', description: 'The version of the entry: for the next `ifMatch` (status 200)' },
      item: schemaRef('InventoryItem'),
      error: schemaRef('Error'),
    },
    required: ['petId', 'status'],
    additionalProperties: false,
  },
  // What refers to these describes them: the page shows both descriptions.
  PetStatus: schemaOf(petStatusSchema),
  PetCategory: schemaOf(petCategorySchema),
  PetTag: { description: 'A label of a pet', ...schemaOf(petTagSchema) },
  Pet: { description: 'A pet, with the status of its stock entry', ...schemaOf(petSchema) },
  Order: { description: 'An order for a pet', ...schemaOf(orderSchema) },
  KeyDetails: { description: 'What a key may do, and how much of it is left', ...schemaOf(keyDetailsSchema) },
  OrderList: listOf('Order', 'Orders, ascending by id'),
  OrderStatus: schemaOf(orderStatusSchema),
  Error: {
    description: 'Body of every answer that is an error',
    type: 'object',
    properties: {
      code: {
        type: 'string',
        enum: Object.keys(errorCatalog),
        description: 'Machine-readable error code: what a program goes by',
      },
      message: {
        type: 'string',
        description: 'Human-readable description, one line; its words may change',
      },
      status: { type: 'integer', format: 'int32', description: 'The HTTP status code' },
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
