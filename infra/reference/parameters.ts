import type { ParameterObject, ReferenceObject } from 'openapi3-ts/oas31';
import {
  IDEMPOTENCY_KEY_PATTERN,
  IDEMPOTENCY_KEY_RULE,
  MAX_HEADER_LENGTH,
} from '../../shared/http/conditional-requests.ts';
import {
  cursorSchema,
  limitSchema,
  petIdsSchema,
  type Operation,
  operations,
} from '../../shared/contract/operations.ts';
import type { OperationId } from '../../shared/contract/routes.ts';
import { EXAMPLE_CURSOR, examples } from './examples.ts';
import { int64, schemaOf } from './schemas.ts';

const TAG = String.raw`(W/)?"[!#-~]*"`;
const TAGS = String.raw`^(\*|${TAG}(, ?${TAG}){0,19})$`;

/** An example that the try-it form sends only if selected: a first PATCH with its `If-Match` would fail. */
const unlessTicked = (value: unknown) => ({ examples: { example: { value, 'x-disabled': true } } });

/** Every parameter of a path or in a header, by its name in the document. */
export const parameters = {
  PetId: {
    name: 'petId',
    in: 'path',
    required: true,
    description: 'The pet',
    schema: int64,
    example: examples.updateInventory.petId,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response, or several: an unchanged resource returns 304 without a body.',
    schema: { type: 'string', pattern: TAGS, maxLength: 2_000 },
    ...unlessTicked('W/"kEr0qOdpC3nZBvVx"'),
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the version to update, or several; `*` matches any. If the entry has changed since, the response is 412 and nothing is written.',
    schema: { type: 'string', pattern: TAGS, maxLength: 2_000 },
    ...unlessTicked('"mX0aVbq3Zk1T"'),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `A new one for each update, such as a UUID: ${IDEMPOTENCY_KEY_RULE} (IETF draft-ietf-httpapi-idempotency-key-header). Sending the same request again with the same key within 24 hours changes nothing: an update gets the same response, an adjustment the current entry.`,
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN, maxLength: MAX_HEADER_LENGTH },
    ...unlessTicked('"8e03978e-40d5-43dd-bc93-6894a57f9324"'),
  },
} as const satisfies Record<string, ParameterObject>;

export type ParameterName = keyof typeof parameters;

export const parameterRef = (name: string): ReferenceObject => ({ $ref: `#/components/parameters/${name}` });

const petStatus = operations.listInventory.query.status;
const orderStatus = operations.listOrders.query.status;

/** The query parameters of the contract: each with its name in the document, and an example. */
const ofQuery = new Map<unknown, readonly [string, unknown]>([
  [limitSchema, ['Limit', 100]],
  [cursorSchema, ['Cursor', EXAMPLE_CURSOR]],
  [petStatus, ['PetStatusFilter', petStatus.options[0]]],
  [orderStatus, ['OrderStatusFilter', orderStatus.options[0]]],
  [petIdsSchema, ['PetIds', [101, 103]]],
]);

/** The query parameters of an operation, each with its name in the document. */
export function queryParameters(id: OperationId): [string, ParameterObject][] {
  const { query }: Operation = operations[id];
  return Object.entries(query ?? {}).map(([name, contract]) => {
    const { description = '', ...schema } = schemaOf(contract);
    const [component, example] = ofQuery.get(contract) ?? [];
    if (component === undefined) throw new Error(`The parameter ${name} of ${id} has no name and example in ofQuery`);
    return [component, { name, in: 'query', description, schema, ...unlessTicked(example) }];
  });
}
