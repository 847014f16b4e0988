import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { SchemaObject } from 'openapi3-ts/oas31';
import * as v from 'valibot';
import { type ErrorCode, errorCatalog } from '../../shared/contract/errors.ts';
import {
  inventoryAdjustmentSchema,
  inventoryItemSchema,
  inventoryUpdateSchema,
  inventoryUpdatesSchema,
  MAX_UPDATES,
  petStatusSchema,
  type SchemasOf,
} from '../../shared/contract/inventory.ts';
import { int64Schema } from '../../shared/contract/int64.ts';
import { orderSchema, orderStatusSchema } from '../../shared/contract/orders.ts';
import { petCategorySchema, petSchema, petTagSchema } from '../../shared/contract/pets.ts';
import type { KeyDetails, KeyLimit } from '../../shared/contract/records.ts';
import { MAX_PER_DAY, planIds } from '../../shared/keys/plans.ts';

/** Schemas with a name in the document, for references. */
const named = new Map<unknown, string>([
  [petStatusSchema, 'PetStatus'],
  [orderStatusSchema, 'OrderStatus'],
  [petCategorySchema, 'PetCategory'],
  [petTagSchema, 'PetTag'],
]);

const [int64Text, int64Guard] = int64Schema.pipe;

/** A reference to a schema among the document's components. */
export const schemaRef = (name: string): SchemaObject => ({ $ref: `#/components/schemas/${name}` });

/** Bounded by its format. As JavaScript numbers, its bounds would lose digits. */
export const int64: SchemaObject = { type: 'integer', format: 'int64' };

/** JSON Schema 2020-12, for OpenAPI, of a schema that validates. @throws Error if it cannot express that */
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
  const formatted: object = JSON.parse(JSON.stringify(converted), (_key, value: unknown) => withFormat(value));
  if (isOfOpenApi(formatted)) return formatted;
  throw new Error('A schema of the contract cannot be expressed in OpenAPI');
}

const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (valibotAction === int64Guard || valibotAction.type === 'check_items') return jsonSchema;
  // For a list this check means unique items; for a time, an existing day, which `date-time` implies.
  if (valibotAction.type === 'check')
    return jsonSchema.type === 'array' ? { ...jsonSchema, uniqueItems: true } : jsonSchema;
  return undefined;
};

const integerSchema = v.looseObject({
  type: v.literal('integer'),
  minimum: v.optional(v.number()),
  maximum: v.optional(v.number()),
});

/** An integer with the format that holds its bounds; any other value unchanged. */
function withFormat(value: unknown): unknown {
  if (!v.is(integerSchema, value)) return value;
  const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = value;
  const isInt32 = minimum >= -(2 ** 31) && maximum < 2 ** 31;
  return Object.assign({ type, format: isInt32 ? 'int32' : 'int64' }, value);
}

/** The converter's type is that of draft-07, which allows `true` as a schema; it never returns that. */
const isOfOpenApi = (schema: object): schema is SchemaObject => 'type' in schema || '$ref' in schema;

const listOf = (name: string, description: string) => ({ type: 'array', items: schemaRef(name), description }) as const;

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_PER_DAY));

const keyLimitSchema = v.strictObject({
  window: v.pipe(v.picklist(['minute', 'day']), v.description('UTC minute or UTC day')),
  limit: v.pipe(countSchema, v.description('Max requests per window')),
  remaining: v.pipe(countSchema, v.description('Remaining quota, after this request')),
  resetsAt: v.pipe(v.string(), v.isoTimestamp(), v.description('End of the window')),
} satisfies SchemasOf<KeyLimit>);

/** Response of `GET /key`. */
const keyDetailsSchema = v.strictObject({
  plan: v.picklist(planIds),
  token: v.optional(v.pipe(v.string(), v.description('Token of the request: its label and last four characters'))),
  access: v.pipe(v.picklist(['full', 'read']), v.description('`read`: read-only')),
  expiresAt: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description('When the key expires; absent: never'))),
  limits: v.pipe(v.array(keyLimitSchema), v.maxLength(2), v.description('All limits of the key')),
} satisfies SchemasOf<KeyDetails>);

/** Every schema of a request or response body, by its name in the document. */
export const schemas = {
  InventoryItem: { description: 'Stock level of one pet', ...schemaOf(inventoryItemSchema) },
  InventoryList: listOf('InventoryItem', 'Stock levels, ascending by petId'),
  InventoryUpdate: { description: 'Fields to set', ...schemaOf(inventoryUpdateSchema) },
  InventoryAdjustment: { description: 'An adjustment of the quantity', ...schemaOf(inventoryAdjustmentSchema) },
  InventoryUpdates: { description: 'Updates of different pets', ...schemaOf(inventoryUpdatesSchema) },
  InventoryUpdateResults: {
    ...listOf('InventoryUpdateResult', 'The result of each row, in the order of the rows'),
    maxItems: MAX_UPDATES,
  },
  InventoryUpdateResult: {
    description: 'Result of one row: the entry with its ETag, or the error that a single update would return',
    type: 'object',
    properties: {
      petId: int64,
      status: {
        type: 'integer',
        format: 'int32',
        enum: [200, 404, 412, 422, 500, 503],
        description: 'The status that a single update would return',
      },
      etag: { type: 'string', description: 'Version of the entry, for the next `ifMatch` (status 200 and 412)' },
      item: schemaRef('InventoryItem'),
      error: schemaRef('Error'),
    },
    required: ['petId', 'status'],
    additionalProperties: false,
  },
  // Described by their references: the page shows both descriptions.
  PetStatus: schemaOf(petStatusSchema),
  PetCategory: schemaOf(petCategorySchema),
  PetTag: { description: 'A label of a pet', ...schemaOf(petTagSchema) },
  Pet: { description: 'A pet, with the status of its stock entry', ...schemaOf(petSchema) },
  Order: { description: 'An order for a pet', ...schemaOf(orderSchema) },
  KeyDetails: { description: 'Access, limits and remaining quota of a key', ...schemaOf(keyDetailsSchema) },
  OrderList: listOf('Order', 'Orders, ascending by id'),
  OrderStatus: schemaOf(orderStatusSchema),
  Error: {
    description: 'Body of every error response',
    type: 'object',
    properties: {
      code: { type: 'string', enum: Object.keys(errorCatalog), description: 'Machine-readable error code' },
      message: { type: 'string', description: 'Human-readable description, one line; its wording may change' },
      status: { type: 'integer', format: 'int32', description: 'The HTTP status code' },
    },
    required: ['code', 'message', 'status'],
    additionalProperties: false,
  },
} as const satisfies Record<string, SchemaObject>;

export type SchemaName = keyof typeof schemas;

/** The Error body of a status, restricted to these codes. */
export const errorSchema = (status: number, codes: readonly ErrorCode[]): SchemaObject => ({
  allOf: [
    schemaRef('Error'),
    {
      type: 'object',
      properties: { code: { type: 'string', enum: [...codes] }, status: { type: 'integer', const: status } },
    },
  ],
});
