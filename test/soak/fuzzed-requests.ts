import * as fc from 'fast-check';
import type { OperationRequest, RequestContract, RequestSchema } from './request-contract.ts';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** A request that may have nothing to do with any operation. */
export interface OddRequest {
  readonly method: string;
  /** As it goes over the wire, below the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
}

/** Text of all sorts, and text that programs have stumbled over. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.double().map(String),
  fc.constantFrom('', ' ', '+1', '01', '-0', '1e3', '0x10', '1_000', '١٢٣', 'null', '[object Object]', '..', '%00'),
  fc.constantFrom('__proto__', 'constructor', "' OR 1=1 --", '<script>', '\uFEFF', 'a'.repeat(3_000), '9'.repeat(400)),
);

/** Whatever can stand in a header: Latin-1 without control characters. */
const hostileHeader = fc.oneof(
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map(toCharacter),
    maxLength: 40,
  }),
  fc.constantFrom('', '*', '""', '"a', 'W/"a"', '"a", "b"', '"a" "b"', '*, "a"', ','.repeat(300), '"a",'.repeat(100)),
  fc.constantFrom('gzip;q=0', 'identity;q=0', '*;q=0', 'gzip, gzip', 'br;q=1.0, gzip;q=0.001', 'x'.repeat(2_500)),
);

const headerName = fc.oneof(
  fc.constantFrom('Accept', 'Accept-Encoding', 'Content-Encoding', 'Content-Type', 'Idempotency-Key', 'If-Match'),
  fc.constantFrom(
    'Cookie',
    'If-None-Match',
    'Origin',
    'Range',
    'X-Forwarded-For',
    'X-HTTP-Method-Override',
    '__proto__',
  ),
);

const jsonText = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.slice(0, -1)),
  fc.record({ quantity: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.record({ quantity: fc.nat(), more: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.double().map((value) => `{"quantity":${value}}`),
  fc.bigInt().map((value) => `{"quantity":${value}}`),
  fc.constantFrom('', ' ', '{}', '[]', '{"quantity":1e999}', '{"quantity":-0}', '{"quantity":5.0}', '{"quantity":5e0}'),
  fc.constantFrom(
    '{"quantity":1,"quantity":2}',
    '{"quantity":1,"__proto__":{}}',
    '\uFEFF{"quantity":1}',
    '['.repeat(9_000),
  ),
  fc.nat({ max: 40_000 }).map((length) => '{"quantity":3}'.padEnd(length)),
);

/** Requests of one operation that the document allows. */
export function allowedRequest(operation: RequestContract, petIds: readonly string[]): fc.Arbitrary<OperationRequest> {
  const { parameters, body } = operation;
  const someOf = (place: string) => {
    const all = parameters.filter((parameter) => parameter.in === place);
    const pairs = all.map(({ name, schema }) => allowedText(schema).map((value): [string, string] => [name, value]));
    return fc.tuple(...pairs).chain((values) => fc.subarray(values));
  };
  const contentType: [string, string][] = body ? [['Content-Type', 'application/json']] : [];
  return fc.record({
    petId: allowedPetId(operation, petIds),
    query: someOf('query'),
    headers: someOf('header').map((headers) => Object.fromEntries([...headers, ...contentType])),
    body: body ? allowedBody(body) : fc.constant(undefined),
  });
}

/** Requests of one operation with anything in their parts; some of them are allowed. */
export function anyRequest(operation: RequestContract, petIds: readonly string[]): fc.Arbitrary<OperationRequest> {
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const name = fc.oneof(fc.constantFrom(...names, 'limit'), hostileText);
  const value = fc.oneof(hostileText, fc.constantFrom('1', '1000', '1001', 'sold', 'placed'));
  return allowedRequest(operation, petIds).chain((allowed) =>
    fc.record({
      petId: fc.oneof({ weight: 3, arbitrary: fc.constant(allowed.petId) }, { weight: 1, arbitrary: hostileText }),
      query: fc.oneof(
        { weight: 2, arbitrary: fc.constant(allowed.query) },
        { weight: 1, arbitrary: fc.array(fc.tuple(name, value), { maxLength: 4 }) },
      ),
      headers: fc
        .dictionary(headerName, hostileHeader, { maxKeys: 2 })
        .map((hostile) => Object.fromEntries([...Object.entries(allowed.headers), ...Object.entries(hostile)])),
      body: fc.oneof(fc.constant(allowed.body), jsonText),
    }),
  );
}

/** Requests with any method, path and headers. */
export function oddRequest(paths: readonly string[]): fc.Arbitrary<OddRequest> {
  const segment = fc.oneof(
    hostileText.map(encodeURIComponent),
    fc.constantFrom(...paths.flatMap((path) => path.split('/')), '..', '%2e%2e', '%2F', '%', '%zz', '%ff', '{petId}'),
    fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map(toCharacter), maxLength: 20 }),
  );
  const path = fc.oneof(
    fc.constantFrom(...paths.map((template) => template.replace(/\{\w+\}/, '101'))),
    fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`),
  );
  return fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'),
    path: path.map((text) => text.replaceAll('#', '')),
    headers: fc.dictionary(
      fc.oneof({ weight: 9, arbitrary: headerName }, { weight: 1, arbitrary: fc.constant('Authorization') }),
      fc.oneof(hostileHeader, fc.array(hostileHeader)),
      {
        maxKeys: 4,
      },
    ),
    body: fc.option(jsonText, { nil: undefined }),
  });
}

/** Values that a schema allows, as text. */
function allowedText(schema: RequestSchema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer') return allowedInteger(schema).map(String);
  const { maxLength = 200, pattern = '' } = schema;
  return fc.stringMatching(new RegExp(pattern), { maxLength }).filter((text) => text.length > 0);
}

/** Integers that a schema allows. Those at its bounds are likelier. */
function allowedInteger({ format, minimum = 0, maximum = 0 }: RequestSchema): fc.Arbitrary<bigint> {
  // As numbers the bounds of an int64 are no longer quite those that the document has.
  const [min, max] = format === 'int64' ? [MIN_INT64, MAX_INT64] : [BigInt(minimum), BigInt(maximum)];
  return fc.oneof(fc.constantFrom(min, max), fc.bigInt({ min, max }));
}

function allowedPetId({ parameters }: RequestContract, petIds: readonly string[]): fc.Arbitrary<string> {
  const parameter = parameters.find(({ name }) => name === 'petId');
  if (!parameter) return fc.constant('');
  const known = fc.constantFrom(...petIds);
  return fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: allowedText(parameter.schema) });
}

function allowedBody({ properties = {} }: RequestSchema): fc.Arbitrary<string> {
  const values = Object.entries(properties).map(([name, property]) =>
    allowedInteger(property).map((value) => `${JSON.stringify(name)}:${value}`),
  );
  return fc.tuple(...values).map((fields) => `{${fields.join(',')}}`);
}

function toCharacter(code: number): string {
  return String.fromCharCode(code);
}
