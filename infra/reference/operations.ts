import type { ContentObject, OperationObject, PathsObject } from 'openapi3-ts/oas31';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { type OperationId, operationIds } from '../../shared/contract/routes.ts';
import { STABILITY_HEADER } from '../../shared/http/response-headers.ts';
import type { StageSettings } from '../stages.ts';
import { examples } from './examples.ts';
import { deprecationText } from './guide.ts';
import { type HeaderComponent, headersOf } from './headers.ts';
import { type ParameterName, parameterRef, queryParameters } from './parameters.ts';
import { errorResponses } from './responses.ts';
import { type SchemaName, schemaRef } from './schemas.ts';

type Deprecation = StageSettings['petDeprecation'];

/** What the document says of an operation beside the contract. */
interface Presentation {
  readonly tag: TagName;
  readonly description: string;
  /** Beside those of the query. */
  readonly parameters?: readonly ParameterName[];
  readonly body?: { readonly schema: SchemaName; readonly example: unknown };
  readonly response: SchemaName;
  readonly responseDescription: string;
  /** Headers of the answer that the operation's errors do not have. */
  readonly responseHeaders?: readonly HeaderComponent[];
}

export const tags = {
  Inventory: 'Stock levels: how many of each pet there are.',
  Keys: 'The key that asks.',
  Orders: 'Orders for pets.',
  Pets: 'The pets themselves.',
} as const;

type TagName = keyof typeof tags;

const LIST_DESCRIPTION = `Without parameters the answer is the whole list, however long, streamed as it is read. With \`limit\` it is a page,
whose \`Link\` header leads to the next. With \`Accept-Encoding: gzip\` it comes compressed, a tenth of its size. See [Lists](#description/lists).`;

const presentations: Record<OperationId, Presentation> = {
  listInventory: {
    tag: 'Inventory',
    description: `All stock entries, ascending by \`petId\`. ${LIST_DESCRIPTION}`,
    parameters: ['IfNoneMatch'],
    response: 'InventoryList',
    responseDescription: 'The stock entries',
    responseHeaders: ['NextPage', 'ReadETag'],
  },
  getInventory: {
    tag: 'Inventory',
    description: `The stock entry of one pet as it is now, with the \`ETag\` that an update or an adjustment may name in \`If-Match\`.`,
    parameters: ['PetId', 'IfNoneMatch'],
    response: 'InventoryItem',
    responseDescription: 'The entry',
    responseHeaders: ['ETag'],
  },
  updateInventory: {
    tag: 'Inventory',
    description: `Sets the quantity of one pet: for new arrivals, returns or manual adjustments. Its status stays as it is.
Setting the same quantity twice is safe. See [Safe updates](#description/safe-updates) for several clients at work on one pet.`,
    parameters: ['PetId', 'IfMatch', 'IdempotencyKey'],
    body: { schema: 'InventoryUpdate', example: { quantity: examples.updateInventory.quantity } },
    response: 'InventoryItem',
    responseDescription: 'The entry, updated',
    responseHeaders: ['ETag'],
  },
  updateInventories: {
    tag: 'Inventory',
    description: `Sets the quantities of up to 25 pets. Each row is an update by itself: the answer says of each what became of it, in
their order. It counts as one request. See [Batch updates](#description/batch-updates).`,
    body: { schema: 'InventoryUpdates', example: examples.inventoryUpdates },
    response: 'InventoryUpdateResults',
    responseDescription: 'What became of each row',
  },
  adjustInventory: {
    tag: 'Inventory',
    description: `Adds to the quantity of one pet, or takes from it: for what is sold, returned or arrives. It never goes below 0.
Send an \`Idempotency-Key\`, as an adjustment that is sent twice counts twice. See [Safe updates](#description/safe-updates).`,
    parameters: ['PetId', 'IfMatch', 'IdempotencyKey'],
    body: { schema: 'InventoryAdjustment', example: { by: -1 } },
    response: 'InventoryItem',
    responseDescription: 'The entry; with an `Idempotency-Key` as it is by now, which may hold later changes too',
    responseHeaders: ['ETag'],
  },
  getPet: {
    tag: 'Pets',
    description: `What a pet is called, its kind, pictures and tags. Its status is that of its stock entry. There is nothing instead,
but for the status: \`GET /inventory/{petId}\` has it.`,
    parameters: ['PetId', 'IfNoneMatch'],
    response: 'Pet',
    responseDescription: 'The pet',
    responseHeaders: ['ReadETag', 'DeprecationPages'],
  },
  listOrders: {
    tag: 'Orders',
    description: `All orders, ascending by \`id\`. ${LIST_DESCRIPTION}`,
    parameters: ['IfNoneMatch'],
    response: 'OrderList',
    responseDescription: 'The orders',
    responseHeaders: ['NextPage', 'ReadETag'],
  },
  getKey: {
    tag: 'Keys',
    description: `Plan, access, limits and end of the key that asks, and which of its tokens that is. It counts as a request, and the
numbers are those after it.`,
    response: 'KeyDetails',
    responseDescription: 'The key',
  },
};

/** Every operation of the interface, by path and method. The guide says in a sentence what HEAD does. */
export function paths(deprecation: Deprecation): PathsObject {
  const result: PathsObject = {};
  for (const id of operationIds) {
    const { method, path } = operations[id];
    result[path] = { ...result[path], [method.toLowerCase()]: operationObject(id, deprecation) };
  }
  return result;
}

function operationObject(id: OperationId, deprecation: Deprecation): OperationObject {
  const operation: Operation = operations[id];
  const {
    tag,
    description,
    parameters = [],
    body,
    response,
    responseDescription,
    responseHeaders = [],
  } = presentations[id];
  const headers = headersOf([...responseHeaders, ...headersOfFunction(id)]);
  return {
    operationId: id,
    tags: [tag],
    summary: operation.purpose,
    description,
    ...(operation.deprecated && {
      description: `${description} See [Deprecations](#description/deprecations): the operation is ${deprecationText(deprecation)}.`,
      deprecated: true,
      // How tools that compare versions of an interface know that an operation may go.
      'x-sunset': deprecation.sunsetAt.slice(0, 'YYYY-MM-DD'.length),
    }),
    'x-stability': operation.stability,
    ...(operation.stability !== 'stable' && { 'x-badges': [{ name: operation.stability, position: 'before' }] }),
    parameters: [...queryParameters(id).map(([name]) => name), ...parameters].map(parameterRef),
    ...(body !== undefined && {
      requestBody: { required: true, content: json(body.schema, body.example) },
    }),
    responses: {
      200: { description: responseDescription, headers, content: json(response, examples[id]) },
      ...(parameters.includes('IfNoneMatch') && {
        304: { description: 'Nothing has changed since the answer that `If-None-Match` names', headers },
      }),
      ...errorResponses(operation, headersOfFunction(id)),
    },
  };
}

const json = (schema: SchemaName, example: unknown): ContentObject => ({
  'application/json': { schema: schemaRef(schema), examples: { [schema]: { value: example } } },
});

/** Headers of every answer of the operation's function. */
function headersOfFunction(id: OperationId): HeaderComponent[] {
  const { stability, deprecated }: Operation = operations[id];
  return [
    ...(deprecated ? (['Deprecation', 'Sunset'] as const) : []),
    ...(stability === 'stable' ? [] : ([STABILITY_HEADER] as const)),
  ];
}
