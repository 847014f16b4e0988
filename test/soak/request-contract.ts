import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import { openApiDocument, openApiJson } from '../../infra/reference/document.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { MAX_BODY_BYTES } from '../../shared/http/json-body.ts';

const valueView = v.looseObject({
  type: v.picklist(['integer', 'string', 'object']),
  minimum: v.optional(v.number()),
  maximum: v.optional(v.number()),
  format: v.optional(v.string()),
  enum: v.optional(v.array(v.string())),
  pattern: v.optional(v.string()),
  maxLength: v.optional(v.number()),
});
const schemaView = v.looseObject({
  ...valueView.entries,
  properties: v.optional(v.record(v.string(), valueView)),
});
export type RequestSchema = v.InferOutput<typeof schemaView>;

const operationView = v.object({
  operationId: v.string(),
  parameters: v.array(v.object({ name: v.string(), in: v.picklist(['path', 'query', 'header']), schema: schemaView })),
  requestBody: v.optional(v.object({ content: v.object({ 'application/json': v.object({ schema: schemaView }) }) })),
});
const documentView = v.object({ paths: v.record(v.string(), v.record(v.string(), operationView)) });

/** What the OpenAPI document says of the requests of an operation. */
export interface RequestContract {
  readonly operationId: string;
  readonly method: string;
  /** With `{petId}`. */
  readonly path: string;
  readonly parameters: v.InferOutput<typeof operationView>['parameters'];
  readonly body: RequestSchema | undefined;
}

/** A request of an operation, part by part. */
export interface OperationRequest {
  /** Text in the place of the path parameter. */
  readonly petId: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Whether a request is one that the document allows; `open` where it leaves that open. */
export type Conformity = 'allowed' | 'forbidden' | 'open';

/** The operations of the document. */
export function requestContracts(): RequestContract[] {
  const document: unknown = JSON.parse(
    openApiJson(openApiDocument({ serverUrl: 'http://localhost/v1', environment: 'local' })),
  );
  const { paths } = v.parse(documentView, resolved(document, document));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // What GET refuses has no body to say why where HEAD is refused.
      .filter(([method]) => method !== 'head')
      .map(([method, { operationId, parameters, requestBody }]) => ({
        operationId,
        method: method.toUpperCase(),
        path,
        parameters,
        body: requestBody?.content['application/json'].schema,
      })),
  );
}

/** A part of the document with what it refers to in place of the references. */
function resolved(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => resolved(item, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...rest } = v.parse(v.looseObject({ $ref: v.optional(v.string()) }), part);
  const target = $ref === undefined ? {} : v.parse(v.looseObject({}), resolved(at($ref, document), document));
  return {
    ...target,
    ...Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, resolved(item, document)])),
  };
}

function at(pointer: string, document: unknown): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((part, key) => v.parse(v.looseObject({}), part)[key], document);
}

const ajv = addFormats.default(new Ajv2020({ strict: false }));

/** Judges a request by the document alone. */
export function conformityOf(
  { parameters, body: schema }: RequestContract,
  { petId, query, headers, body }: OperationRequest,
): Conformity {
  const declared = (place: string, name: string) =>
    parameters.find((parameter) => parameter.in === place && parameter.name.toLowerCase() === name.toLowerCase());
  const petIdParameter = declared('path', 'petId');
  return worst([
    petIdParameter ? conformityOfText(petId, petIdParameter.schema) : 'allowed',
    ...conformityOfQuery(query, parameters),
    ...Object.entries(headers).map(([name, value]) =>
      conformityOfHeader(name, value, declared('header', name)?.schema),
    ),
    schema ? conformityOfBody(body, headers, schema) : 'allowed',
  ]);
}

/** An operation without query parameters does not look at the query. */
function conformityOfQuery(query: OperationRequest['query'], parameters: RequestContract['parameters']): Conformity[] {
  const declared = new Map(
    parameters.filter((other) => other.in === 'query').map(({ name, schema }) => [name, schema]),
  );
  if (declared.size === 0) return [];
  const isRepeated = new Set(query.map(([name]) => name)).size < query.length;
  return [
    isRepeated ? 'forbidden' : 'allowed',
    ...query.map(([name, value]) => {
      const schema = declared.get(name);
      return schema ? conformityOfText(value, schema) : 'forbidden';
    }),
  ];
}

function worst(all: readonly Conformity[]): Conformity {
  if (all.includes('forbidden')) return 'forbidden';
  return all.includes('open') ? 'open' : 'allowed';
}

function conformityOfText(text: string, schema: RequestSchema): Conformity {
  if (schema.type !== 'integer') return ajv.validate(schema, text) ? 'allowed' : 'forbidden';
  // How a number may be written in a URL, OpenAPI does not say.
  if (!isInt64(text)) return /^[\s+]*0*\d+\s*$/.test(text) ? 'open' : 'forbidden';
  return ajv.validate(schema, Number(text)) ? 'allowed' : 'forbidden';
}

/** Headers that every request may have, and that change what is done with it (RFC 9110 §8.4 and §13.1). */
const OF_HTTP = new Set(['Content-Encoding', 'If-None-Match']);

/** A server may take more than the document says of a header, and ignores one that it does not know. */
function conformityOfHeader(name: string, value: string, schema: RequestSchema | undefined): Conformity {
  if (schema === undefined && OF_HTTP.has(name)) return 'open';
  return schema === undefined || ajv.validate(schema, value) ? 'allowed' : 'open';
}

function conformityOfBody(
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
  schema: RequestSchema,
): Conformity {
  if (body === undefined || Buffer.byteLength(body) > MAX_BODY_BYTES) return 'forbidden';
  if (headers['Content-Type'] !== 'application/json') return 'open';
  // A schema says nothing of a field that is given twice: what parses the body makes one of them.
  if ([...body.matchAll(/"quantity"\s*:/g)].length > 1) return 'open';
  try {
    return ajv.validate(schema, JSON.parse(body)) ? 'allowed' : 'forbidden';
  } catch {
    return 'forbidden';
  }
}
