import type { ParameterObject, ReferenceObject } from 'openapi3-ts/oas31';
import type { GenericSchema } from 'valibot';
import { petStatusSchema } from '../../shared/contract/inventory.ts';
import { listParameters } from '../../shared/contract/list-query.ts';
import { orderStatusSchema } from '../../shared/contract/orders.ts';
import { EXAMPLE_PET_ID } from './examples.ts';
import { int64From, schemaOf } from './schemas.ts';

const TAG = String.raw`(W/)?"[!#-~]*"`;

const ofInventory = listParameters(petStatusSchema);

/** Every parameter of a request, by its name in the document. */
export const parameters = {
  PetId: {
    name: 'petId',
    in: 'path',
    required: true,
    description: 'The pet',
    schema: int64From(),
    example: EXAMPLE_PET_ID,
  },
  Limit: ofQuery('limit', ofInventory.limit, 100),
  Cursor: ofQuery('cursor', ofInventory.cursor),
  PetStatusFilter: ofQuery('status', ofInventory.status),
  OrderStatusFilter: ofQuery('status', listParameters(orderStatusSchema).status),
  AcceptEncoding: {
    name: 'Accept-Encoding',
    in: 'header',
    description:
      'With `gzip` the answer comes compressed, a tenth of its size. Browsers, and most clients, send it by themselves.',
    schema: { type: 'string', pattern: '^[ -~]*$', maxLength: 200 },
    example: 'gzip',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the version that the update is meant for, or several; `*` stands for any. If the entry has changed since, the answer is 412 and nothing is done.',
    schema: { type: 'string', pattern: String.raw`^(\*|${TAG}(, ?${TAG}){0,19})$`, maxLength: 2_000 },
    example: '"mX0aVbq3Zk1T"',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A text in quotes that you make anew for each update, such as a UUID (IETF draft-ietf-httpapi-idempotency-key-header). Once the update is done, sending the same request again with the same key within 24 hours gives the same answer, and changes nothing.',
    schema: { type: 'string', pattern: String.raw`^("[ !#-\[\]-~]{1,255}"|[!#-\[\]-~]{1,255})$`, maxLength: 257 },
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  },
} as const satisfies Record<string, ParameterObject>;

export type ParameterName = keyof typeof parameters;

export const parameterRef = (name: ParameterName): ReferenceObject => ({ $ref: `#/components/parameters/${name}` });

/** A query parameter as the contract has it. */
function ofQuery(name: string, contract: GenericSchema, example?: number): ParameterObject {
  const { description = '', ...schema } = schemaOf(contract);
  return { name, in: 'query', description, schema, ...(example !== undefined && { example }) };
}
