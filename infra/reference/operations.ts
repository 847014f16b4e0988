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

/** The document's texts about an operation that the contract does not have. */
interface Presentation {
  readonly tag: TagName;
  readonly description: string;
  /** In addition to query parameters. */
  readonly parameters?: readonly ParameterName[];
  readonly body?: { readonly schema: SchemaName; readonly example: unknown };
  readonly response: SchemaName;
  readonly responseDescription: string;
  /** Headers of successful responses only. */
  readonly responseHeaders?: readonly HeaderComponent[];
}

export const tags = {
  Inventory: 'Stock levels of the pets.',
  Keys: 'The key of the request.',
  Orders: 'Orders for pets.',
  Pets: 'The pets themselves.',
} as const;

type TagName = keyof typeof tags;

const LIST_DESCRIPTION = `Without parameters the response is the complete list, streamed as it is read. With \`limit\` it is one page,
whose \`Link\` header has the URL of the next. \`Accept-Encoding: gzip\` compresses it to a tenth of its size. See [Lists](#description/lists).`;

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
    description: `The current stock entry of one pet, with the \`ETag\` for the \`If-Match\` of an update or an adjustment.`,
    parameters: ['PetId', 'IfNoneMatch'],
    response: 'InventoryItem',
    responseDescription: 'The entry',
    responseHeaders: ['ETag'],
  },
  updateInventory: {
    tag: 'Inventory',
    description: `Sets the quantity of one pet: for new arrivals, returns or manual adjustments. Its status does not change.
Setting the same quantity twice is safe. See [Safe updates](#description/safe-updates) for concurrent updates of one pet.`,
    parameters: ['PetId', 'IfMatch', 'IdempotencyKey'],
    body: { schema: 'InventoryUpdate', example: { quantity: examples.updateInventory.quantity } },
    response: 'InventoryItem',
    responseDescription: 'The entry, updated',
    responseHeaders: ['ETag', 'Idempotent-Replayed'],
  },
  updateInventories: {
    tag: 'Inventory',
    description: `Sets the quantities of up to 25 pets. Each row is a separate update: the response has the result of each, in
their order. It counts as one request. See [Batch updates](#description/batch-updates).`,
    parameters: ['IdempotencyKey'],
    body: { schema: 'InventoryUpdates', example: examples.inventoryUpdates },
    response: 'InventoryUpdateResults',
    responseDescription: 'The result of each row',
  },
  adjustInventory: {
    tag: 'Inventory',
    description: `Adds to the quantity of one pet, or subtracts from it: for sales, returns and arrivals. The quantity never falls below 0.
Send an \`Idempotency-Key\`: without one, a retried adjustment is applied twice. See [Safe updates](#description/safe-updates).`,
    parameters: ['PetId', 'IfMatch', 'IdempotencyKey'],
    body: { schema: 'InventoryAdjustment', example: { by: -1 } },
    response: 'InventoryItem',
    responseDescription:
      'The entry; a retry with the same `Idempotency-Key` returns the current entry, with later changes',
    responseHeaders: ['ETag', 'Idempotent-Replayed'],
  },
  getPet: {
    tag: 'Pets',
    description: `Name, kind, pictures and tags of a pet, and the status of its stock entry. Only the status has a replacement:
\`GET /inventory/{petId}\`.`,
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
    description: `Plan, access, limits and expiry of the request's key, and the name of its token. The call counts as a request, and the
numbers include it.`,
    response: 'KeyDetails',
    responseDescription: 'The key',
  },
};

/** Every operation, by path and method. HEAD is documented in the guide alone. */
export function paths(deprecation: StageSettings['petDeprecation']): PathsObject {
  const result: PathsObject = {};
  for (const id of operationIds) {
    const { method, path } = operations[id];
    result[path] = { ...result[path], [method.toLowerCase()]: operationObject(id, deprecation) };
  }
  return result;
}

function operationObject(id: OperationId, deprecation: StageSettings['petDeprecation']): OperationObject {
  const operation: Operation = operations[id];
  const { description, parameters = [], body, responseHeaders = [], ...shown } = presentations[id];
  const headers = headersOf([...responseHeaders, ...headersOfFunction(id)]);
  return {
    operationId: id,
    tags: [shown.tag],
    summary: operation.purpose,
    description,
    ...(operation.deprecated && {
      description: `${description} See [Deprecations](#description/deprecations): the operation is ${deprecationText(deprecation)}.`,
      deprecated: true,
      // For tools that compare versions of an API.
      'x-sunset': deprecation.sunsetAt.slice(0, 'YYYY-MM-DD'.length),
    }),
    'x-stability': operation.stability,
    ...(operation.stability !== 'stable' && { 'x-badges': [{ name: operation.stability, position: 'before' }] }),
    parameters: [...queryParameters(id).map(([name]) => name), ...parameters].map(parameterRef),
    ...(body !== undefined && { requestBody: { required: true, content: json(body.schema, body.example) } }),
    responses: {
      200: { description: shown.responseDescription, headers, content: json(shown.response, examples[id]) },
      ...(parameters.includes('IfNoneMatch') && {
        304: { description: 'Unchanged since the response with the `ETag` in `If-None-Match`', headers },
      }),
      ...errorResponses(operation, headersOfFunction(id)),
    },
  };
}

const json = (schema: SchemaName, example: unknown): ContentObject => ({
  'application/json': { schema: schemaRef(schema), examples: { [schema]: { value: example } } },
});

/** Headers of every response of the operation's function. */
function headersOfFunction(id: OperationId): HeaderComponent[] {
  const { stability, deprecated }: Operation = operations[id];
  return [
    ...(deprecated ? (['Deprecation', 'Sunset'] as const) : []),
    ...(stability === 'stable' ? [] : ([STABILITY_HEADER] as const)),
  ];
}
