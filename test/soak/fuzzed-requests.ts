import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { openApiDocument } from '../../infra/reference/document.ts';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { MAX_BODY_BYTES } from '../../shared/http/json-body.ts';
import { MAX_INT64, MIN_INT64 } from '../support/int64.ts';

const valueView = v.looseObject({
  type: v.picklist(['integer', 'string', 'object', 'array']),
  minimum: v.optional(v.number()),
  maximum: v.optional(v.number()),
  format: v.optional(v.string()),
  enum: v.optional(v.array(v.string())),
  pattern: v.optional(v.string()),
  maxLength: v.optional(v.number()),
  not: v.optional(v.object({ const: v.number() })),
});
const objectView = v.looseObject({ type: v.literal('object'), properties: v.record(v.string(), valueView) });
const bodyView = v.variant('type', [objectView, v.looseObject({ type: v.literal('array'), items: objectView })]);
const operationView = v.object({
  operationId: v.string(),
  parameters: v.array(v.object({ name: v.string(), in: v.picklist(['path', 'query', 'header']), schema: valueView })),
  requestBody: v.optional(v.object({ content: v.object({ 'application/json': v.object({ schema: bodyView }) }) })),
});
const documentView = v.object({ paths: v.record(v.string(), v.record(v.string(), operationView)) });

type ValueSchema = v.InferOutput<typeof valueView>;
type BodySchema = v.InferOutput<typeof bodyView>;
type Text = fc.Arbitrary<string>;

/** What the OpenAPI document says of the requests of an operation. */
interface RequestContract {
  readonly operationId: string;
  readonly method: string;
  /** With `{petId}`. */
  readonly path: string;
  readonly parameters: v.InferOutput<typeof operationView>['parameters'];
  readonly body: BodySchema | undefined;
}

/** A request, part by part. */
export interface FuzzedRequest {
  readonly method: string;
  /** As it goes over the wire, below the base address. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
}

/** Requests of one kind. */
export interface RequestKind {
  readonly title: string;
  readonly requests: fc.Arbitrary<FuzzedRequest>;
  /** What the document says of them; undefined where it says nothing. */
  readonly isAllowed: boolean | undefined;
  /** The status that some of them must have. */
  readonly mustOccur: number;
}

/** Requests of each operation that the document allows, and that it forbids, and odd ones of none. */
export function requestKinds(): RequestKind[] {
  const petIds = sampleStock.map(({ petId }) => petId);
  const contracts = requestContracts();
  const allowed = contracts.map((contract) => {
    const requests = allowedRequest(contract, petIds);
    return { title: `${contract.operationId}, allowed`, requests, isAllowed: true, mustOccur: 200 };
  });
  const forbidden = contracts.filter(takesInput).map((contract) => {
    const requests = forbiddenRequest(contract, petIds);
    return { title: `${contract.operationId}, forbidden`, requests, isAllowed: false, mustOccur: 400 };
  });
  const requests = oddRequest(contracts.map(({ path }) => path));
  return [...allowed, ...forbidden, { title: 'odd requests', requests, isAllowed: undefined, mustOccur: 404 }];
}

/** The operations of the document. */
function requestContracts(): RequestContract[] {
  const text = JSON.stringify(openApiDocument({ serverUrl: 'http://localhost/v1', environment: 'local' }));
  const document: unknown = JSON.parse(text);
  const { paths } = v.parse(documentView, resolved(document, document));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // What GET refuses has no body to say why where HEAD is refused.
      .filter(([method]) => method !== 'head')
      .map(([method, { operationId, parameters, requestBody }]) => {
        const body = requestBody?.content['application/json'].schema;
        return { operationId, method: method.toUpperCase(), path, parameters, body };
      }),
  );
}

/** A part of the document with what it refers to in place of the references. */
function resolved(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => resolved(item, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...rest } = v.parse(v.looseObject({ $ref: v.optional(v.string()) }), part);
  const names = $ref?.split('/').slice(1) ?? [];
  const target = names.reduce((inner: unknown, name) => v.parse(v.looseObject({}), inner)[name], document);
  const own = Object.entries(rest).map(([key, item]) => [key, resolved(item, document)]);
  return { ...($ref !== undefined && Object(resolved(target, document))), ...Object.fromEntries(own) };
}

/** Text of all sorts, and text that programs have stumbled over. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.double().map(String),
  fc.constantFrom('', ' ', '+1', '01', '-0', '1e3', '0x10', '1_000', '١٢٣', 'null', '[object Object]', '..', '%00'),
  fc.constantFrom('__proto__', 'constructor', "' OR 1=1 --", '<script>', '\uFEFF', 'a'.repeat(3_000), '9'.repeat(400)),
);

const characters = (min: number, max: number): Text =>
  fc.integer({ min, max }).map((code) => (code === 0x7f ? ' ' : String.fromCharCode(code)));

/** Whatever can stand in a header: Latin-1 without control characters. */
const hostileHeader = fc.oneof(
  fc.string({ unit: characters(0x20, 0xff), maxLength: 40 }),
  fc.constantFrom('', '*', '""', '"a', 'W/"a"', '"a", "b"', '"a" "b"', '*, "a"', ','.repeat(300), '"a",'.repeat(100)),
  fc.constantFrom('gzip;q=0', 'identity;q=0', '*;q=0', 'gzip, gzip', 'br;q=1.0, gzip;q=0.001', 'x'.repeat(2_500)),
);

const headerName = fc.oneof(
  fc.constantFrom('Accept', 'Accept-Encoding', 'Content-Encoding', 'Content-Type', 'Idempotency-Key', 'If-Match'),
  fc.constantFrom('Cookie', 'If-None-Match', 'Origin', 'Range', 'X-HTTP-Method-Override', '__proto__', 'Authorization'),
);

const jsonText = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.slice(0, -1)),
  fc.record({ quantity: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.record({ quantity: fc.nat(), more: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.oneof(fc.double(), fc.bigInt()).map((value) => `{"quantity":${value}}`),
  fc.constantFrom('', ' ', '{}', '[]', '{"quantity":1e999}', '{"quantity":-0}', '{"quantity":5.0}', '{"quantity":5e0}'),
  fc.constantFrom('{"quantity":1,"quantity":2}', '{"quantity":1,"__proto__":{}}', '\uFEFF{"quantity":1}'),
  fc.constant('['.repeat(9_000)),
  fc.nat({ max: 40_000 }).map((length) => '{"quantity":3}'.padEnd(length)),
);

/** Requests of one operation that the document allows. */
function allowedRequest(operation: RequestContract, petIds: readonly string[]): fc.Arbitrary<FuzzedRequest> {
  const { method, path, parameters, body } = operation;
  const someOf = (place: string) => {
    const all = parameters.filter((parameter) => parameter.in === place);
    const pairs = all.map(({ name, schema }) => allowedText(schema).map((value): [string, string] => [name, value]));
    return fc.tuple(...pairs).chain((values) => fc.subarray(values).map(alone));
  };
  const contentType: [string, string][] = body ? [['Content-Type', 'application/json']] : [];
  const petId = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...petIds) }, anInt64Text);
  return fc.record({
    method: fc.constant(method),
    path: petId.map((id) => path.replace('{petId}', id)),
    query: someOf('query'),
    headers: someOf('header').map((headers) => Object.fromEntries([...headers, ...contentType])),
    body: body ? allowedBody(body) : fc.constant(undefined),
  });
}

/** Entries are asked for by their ids, one in each parameter, or by the rest. */
const alone = (query: [string, string][]): [string, string][] => {
  const ids = query.find(([name]) => name === 'petId');
  return ids?.[1].split(',').map((id) => ['petId', id]) ?? query;
};

/** Whether an operation has a part that can be wrong. */
const takesInput = ({ path, parameters, body }: RequestContract): boolean =>
  path.includes('{') || body !== undefined || parameters.some((parameter) => parameter.in === 'query');

/** Requests of one operation that takes input which are allowed but for one part. */
function forbiddenRequest(operation: RequestContract, petIds: readonly string[]): fc.Arbitrary<FuzzedRequest> {
  const { path, parameters, body } = operation;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const badPart: fc.Arbitrary<Partial<FuzzedRequest>>[] = [
    ...(path.includes('{petId}')
      ? [hostileText.filter(isNoInteger).map((id) => ({ path: path.replace('{petId}', encodeURIComponent(id)) }))]
      : []),
    ...query.flatMap(({ name, schema }) => [
      forbiddenText(schema).map((value) => ({ query: [[name, value]] as const })),
      hostileText.map((text) => ({ query: [[`${name}_${text}`, '1']] as const })),
      allowedText(schema).map((value) => ({ query: [[name, value] as const, [name, value] as const] })),
    ]),
    ...(body ? [jsonText.filter((text) => isForbiddenBody(text, body)).map((text) => ({ body: text }))] : []),
  ];
  return fc
    .tuple(allowedRequest(operation, petIds), fc.oneof(...badPart))
    .map(([good, bad]) => Object.assign(good, bad));
}

/** Requests with any method, path and headers. */
function oddRequest(paths: readonly string[]): fc.Arbitrary<FuzzedRequest> {
  const segment = fc.oneof(
    hostileText.map(encodeURIComponent),
    fc.constantFrom(...paths.flatMap((path) => path.split('/')), '..', '%2e%2e', '%2F', '%', '%zz', '%ff', '{petId}'),
    fc.string({ unit: characters(0x21, 0x7e), maxLength: 20 }),
  );
  const path = fc.oneof(
    fc.constantFrom(...paths.map((template) => template.replace(/\{\w+\}/, '101'))),
    fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`),
  );
  return fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'),
    path: path.map((text) => text.replaceAll('#', '')),
    headers: fc
      .dictionary(headerName, fc.oneof(hostileHeader, fc.array(hostileHeader)), { maxKeys: 4 })
      .map((headers) => Object.assign({ 'Content-Type': 'application/json' }, headers)),
    body: fc.option(jsonText, { nil: undefined }),
  });
}

const anInt64Text = allowedInteger({ type: 'integer', format: 'int64' });

/** Values that a schema allows, as text. */
function allowedText(schema: ValueSchema): Text {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'array') return fc.uniqueArray(anInt64Text, { minLength: 1, maxLength: 3 }).map(String);
  if (schema.type === 'integer') return allowedInteger(schema);
  const { maxLength = 200, pattern = '' } = schema;
  return fc.stringMatching(new RegExp(pattern), { maxLength }).filter((text) => text.length > 0);
}

/** Integers that a schema allows. Those at its bounds are likelier. */
function allowedInteger({ format, minimum = 0, maximum = 0, not }: ValueSchema): Text {
  // As numbers the bounds of an int64 are no longer quite those that the document has.
  const min = BigInt(format === 'int64' ? MIN_INT64 : minimum);
  const max = BigInt(format === 'int64' ? MAX_INT64 : maximum);
  return fc
    .oneof(fc.constantFrom(min, max), fc.bigInt({ min, max }))
    .filter((value) => value !== BigInt(not?.const ?? 2 ** 70))
    .map(String);
}

function forbiddenText({ type, enum: values, pattern = '', minimum = 0, maximum = 0 }: ValueSchema) {
  if (type === 'array') return hostileText.filter((text) => text.split(',').some(isNoInteger));
  if (type !== 'integer')
    return hostileText.filter((text) => !(values ? values.includes(text) : new RegExp(pattern).test(text)));
  return fc.oneof(hostileText.filter(isNoInteger), fc.constantFrom(String(minimum - 1), String(maximum + 1)));
}

/** How an integer may be written in a URL, OpenAPI does not say: a plus sign and leading zeros may be taken or refused. */
const isNoInteger = (text: string): boolean => !isInt64(text) && !/^[\s+]*0*\d+\s*$/.test(text);

function allowedBody(schema: BodySchema): Text {
  if (schema.type === 'object') return allowedObject(schema);
  const rows = fc.uniqueArray(allowedObject(schema.items), {
    minLength: 1,
    maxLength: 3,
    selector: (row) => /"petId":(-?\d+)/.exec(row)?.[1],
  });
  return rows.map((texts) => `[${texts.join(',')}]`);
}

function allowedObject({ properties }: v.InferOutput<typeof objectView>): Text {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const value =
      schema.type === 'integer' ? allowedInteger(schema) : allowedText(schema).map((text) => JSON.stringify(text));
    return value.map((text) => `${JSON.stringify(name)}:${text}`);
  });
  return fc.tuple(...fields).map((texts) => `{${texts.join(',')}}`);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function isForbiddenBody(body: string, schema: BodySchema): boolean {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) return true;
  // A schema says nothing of a field that is given twice: what parses the body makes one of them.
  if ([...body.matchAll(/"quantity"\s*:/g)].length > 1) return false;
  try {
    return !ajv.validate(schema, JSON.parse(body));
  } catch {
    return true;
  }
}
