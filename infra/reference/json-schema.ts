import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { SchemaObject } from 'openapi3-ts/oas31';
import type { GenericSchema } from 'valibot';
import { type Int64, int64Schema, int64ToJson, isInt64 } from '../../shared/contract/int64.ts';
import { petStatusSchema } from '../../shared/contract/inventory.ts';
import { orderStatusSchema } from '../../shared/contract/orders.ts';

const MIN_INT64 = int64('-9223372036854775808');
const MAX_INT64 = int64('9223372036854775807');

/** An integer that is never negative. */
export const countSchema: SchemaObject = { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 };

/** Schemas that have a name in the document, by which others refer to them. */
const named = new Map<unknown, string>([
  [petStatusSchema, 'PetStatus'],
  [orderStatusSchema, 'OrderStatus'],
]);

const [int64Text, int64Guard] = int64Schema.pipe;

/** A reference to a schema among the document's components. */
export const schemaRef = (name: string): SchemaObject => ({ $ref: `#/components/schemas/${name}` });

/** Text as an int64. @throws Error where it is none */
export function int64(text: string): Int64 {
  if (isInt64(text)) return text;
  throw new Error(`${text} is no int64`);
}

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
export function schemaOf(schema: GenericSchema): SchemaObject {
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
  // All plain integers of the contract have bounds within int32.
  return valibotAction.type === 'integer' ? { ...jsonSchema, format: 'int32' } : undefined;
};

/** The converter's type is that of draft-07, which knows schemas that are just `true`; it never writes those. */
const isOfOpenApi = (schema: object): schema is SchemaObject => 'type' in schema || '$ref' in schema;
