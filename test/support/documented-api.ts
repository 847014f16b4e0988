import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import { openApiDocument, openApiJson } from '../../infra/reference/document.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { methodsOf } from '../../shared/contract/operations.ts';
import { allowedMethods, securityHeaders } from '../../shared/http/response-headers.ts';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';
import { errorCatalogue, type ErrorCode } from '../../shared/contract/errors.ts';

/** A request for an answer: its method, and its path below the base address, without a query. */
export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
}

const reference = v.object({ $ref: v.string() });
const header = v.object({ required: v.boolean(), schema: v.looseObject({ type: v.string() }) });
const response = v.object({
  content: v.optional(v.unknown()),
  headers: v.record(v.string(), v.union([reference, header])),
});
const operation = v.object({ responses: v.record(v.string(), v.union([reference, response])) });
const document = v.object({
  paths: v.record(v.string(), v.record(v.string(), operation)),
  components: v.object({
    headers: v.record(v.string(), header),
    responses: v.record(v.string(), response),
  }),
});

type DeclaredHeaders = v.InferOutput<typeof response>['headers'];

/** Headers of HTTP itself, which the document does not name. */
const OF_HTTP = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** Errors of requests that are no operation, and the headers that each has besides those of every answer. */
const UNROUTED: Readonly<Record<number, readonly string[]>> = {
  400: [],
  401: ['WWW-Authenticate'],
  403: [],
  404: [],
  405: ['Allow'],
  413: [],
  429: ['Retry-After'],
  500: [],
  502: [],
  503: ['Retry-After'],
  504: [],
};

const PREFLIGHT = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
];

/** The OpenAPI document as a measure of what the service answers. */
export class DocumentedApi {
  readonly #document: v.InferOutput<typeof document>;
  readonly #ajv = new Ajv2020({ allErrors: true, strictRequired: false });

  constructor() {
    const json = openApiJson(openApiDocument({ serverUrl: 'http://localhost/v1', environment: 'local' }));
    const strict = JSON.parse(json, (_, part: unknown) => closed(part));
    this.#document = v.parse(document, strict);
    addFormats.default(this.#ajv);
    // The parts of a document are no keywords of a schema.
    this.#ajv.addVocabulary(Object.keys(strict));
    this.#ajv.addSchema(strict, 'openapi');
  }

  /** What about an answer is not as the document says; empty where all is. */
  faults(answer: RawAnswer, request: AnsweredRequest): string[] {
    const path = this.#pathOf(request.path);
    const method = request.method.toLowerCase();
    if (path !== undefined && this.#document.paths[path]?.[method])
      return this.#faultsOfOperation(answer, path, method);
    if (path !== undefined && request.method === 'OPTIONS') return this.#faultsOfPreflight(answer, path);
    return this.#faultsOfUnrouted(answer, request.method);
  }

  #faultsOfOperation(answer: RawAnswer, path: string, method: string): string[] {
    const { responses = {} } = this.#document.paths[path]?.[method] ?? {};
    const declared = responses[answer.status] ?? responses[`${Math.floor(answer.status / 100)}XX`];
    if (!declared) return [`status ${answer.status} is not declared`];
    const pointer =
      '$ref' in declared ? declared.$ref : `#/paths/${escaped(path)}/${method}/responses/${answer.status}`;
    const { headers, content } = '$ref' in declared ? this.#sharedResponse(declared.$ref) : declared;
    const hasBody = content !== undefined && method !== 'head';
    return [
      ...this.#faultsOfHeaders(answer.headers, headers),
      ...(hasBody
        ? this.#faultsOfBody(answer, `openapi${pointer}/content/application~1json/schema`)
        : faultsOfNoBody(answer)),
    ];
  }

  #faultsOfPreflight({ status, headers, text }: RawAnswer, path: string): string[] {
    const fixed = { ...limitHeaders, ...securityHeaders, ...allowedMethods(path) };
    const names = [...PREFLIGHT, ...Object.keys(fixed), 'x-amzn-RequestId', 'x-amz-apigw-id'];
    const allowed = headers.get('Access-Control-Allow-Methods');
    return [
      ...(status === 204 && text === '' ? [] : [`a preflight is answered with ${status} and "${text}"`]),
      ...(allowed === methodsOf(path).join(', ') ? [] : [`a preflight allows ${allowed}`]),
      ...[...headers.keys()].filter((name) => !OF_HTTP.has(name) && !has(names, name)).map(undeclared),
      ...names.filter((name) => !headers.has(name)).map(missing),
    ];
  }

  #faultsOfUnrouted(answer: RawAnswer, method: string): string[] {
    const own = UNROUTED[answer.status];
    if (!own) return [`status ${answer.status} is not one of a request that is no operation`];
    const { responses, headers } = this.#document.components;
    const everywhere: DeclaredHeaders = responses['BadGateway']?.headers ?? {};
    const all = own.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
    const patch = headers['Accept-Patch'];
    const perhaps = answer.status === 405 && patch && { 'Accept-Patch': { ...patch, required: false } };
    return [
      ...this.#faultsOfHeaders(answer.headers, { ...everywhere, ...perhaps, ...Object.fromEntries(all) }),
      ...(method === 'HEAD' ? [] : this.#faultsOfBody(answer, 'openapi#/components/schemas/Error')),
    ];
  }

  #faultsOfHeaders(headers: Headers, declared: DeclaredHeaders): string[] {
    const names = Object.keys(declared);
    return [
      ...[...headers.keys()].filter((name) => !OF_HTTP.has(name) && !has(names, name)).map(undeclared),
      ...Object.entries(declared).flatMap(([name, declaration]) =>
        this.#faultsOfHeader(headers.get(name), name, declaration),
      ),
    ];
  }

  #faultsOfHeader(value: string | null, name: string, declaration: DeclaredHeaders[string]): string[] {
    const { required, schema } = '$ref' in declaration ? this.#sharedHeader(declaration.$ref) : declaration;
    if (value === null) return required ? [missing(name)] : [];
    const isValid = this.#ajv.compile(schema);
    const isInteger = schema.type === 'integer' && isInt64(value);
    return isValid(isInteger ? Number(value) : value) ? [] : [`header ${name}: ${value} ${reasons(isValid)}`];
  }

  #faultsOfBody({ headers, text }: RawAnswer, schema: string): string[] {
    if (headers.get('Content-Type') !== 'application/json') return [`Content-Type is ${headers.get('Content-Type')}`];
    const isValid = this.#ajv.getSchema(schema);
    if (!isValid) throw new Error(`The document has no ${schema}`);
    return isValid(parseExactly(text)) ? [] : [`body: ${reasons(isValid)}`];
  }

  /** The path of the document that a path is of. */
  #pathOf(path: string): string | undefined {
    return Object.keys(this.#document.paths).find((template) => {
      const pattern = template.replaceAll(/\{\w+\}/g, '[^/]+');
      return new RegExp(`^${pattern}$`).test(path);
    });
  }

  #sharedResponse(pointer: string): v.InferOutput<typeof response> {
    const shared = this.#document.components.responses[nameIn(pointer)];
    if (!shared) throw new Error(`The document has no ${pointer}`);
    return shared;
  }

  #sharedHeader(pointer: string): v.InferOutput<typeof header> {
    const shared = this.#document.components.headers[nameIn(pointer)];
    if (!shared) throw new Error(`The document has no ${pointer}`);
    return shared;
  }
}

const faultsOfNoBody = ({ text }: RawAnswer): string[] => (text === '' ? [] : [`there is a body: ${text}`]);

/** Readers take fields that they do not know. The tests do not. */
const closed = (part: unknown): unknown =>
  typeof part === 'object' && part !== null && 'properties' in part && 'required' in part
    ? { additionalProperties: false, ...part }
    : part;

const undeclared = (name: string): string => `header ${name} is not declared`;
const missing = (name: string): string => `header ${name} is missing`;
const nameIn = (pointer: string): string => pointer.split('/').at(-1) ?? '';
const escaped = (path: string): string => encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
const has = (names: readonly string[], name: string): boolean =>
  names.some((other) => other.toLowerCase() === name.toLowerCase());

const reasons = ({ errors }: ValidateFunction): string =>
  (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('; ');

/** JSON in which every number is an int64; one that is not stays text, which no schema takes for a number. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_, part: unknown, context?: { source?: string }) =>
    typeof part === 'number' && !isInt64(context?.source ?? '') ? context?.source : part,
  );
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const isErrorCode = (value: unknown): value is ErrorCode => typeof value === 'string' && value in errorCatalogue;

/** The Error body (spec §2): exactly these fields. */
export const errorBodySchema = v.strictObject({
  code: v.custom<ErrorCode>(isErrorCode),
  message: v.pipe(v.string(), v.minLength(1)),
  status: v.number(),
});

const TOO_MANY = 429;

/**
 * What is wrong with an answer beside what the document says of it; empty where nothing is. Every answer of the API
 * promises this, whatever the request: limit headers that agree (spec §8), and for an error the Error body with the very
 * status of the answer (spec §7).
 */
export function brokenPromises({ status, headers, text }: RawAnswer, method: string): string[] {
  const faults = windowFaults(headers, status);
  if (method === 'HEAD') return text === '' ? faults : [...faults, 'an answer to HEAD has a body'];
  if (status < 400) return faults;
  const error = v.safeParse(v.pipe(v.string(), v.parseJson(), errorBodySchema), text);
  if (!error.success) return [...faults, `no Error body: ${text.slice(0, 200)}`];
  const { code, status: inBody } = error.output;
  return inBody === status && errorCatalogue[code].status === status ? faults : [...faults, `${status} with ${text}`];
}

/** `X-RateLimit-*` tell of one window, the other limit headers of both: they must tell the same. */
function windowFaults(headers: Headers, status: number): string[] {
  const [quotas = [], left = []] = ['RateLimit-Policy', 'RateLimit'].map((name) =>
    [...(headers.get(name) ?? '').matchAll(/;[qr]=(\d+);[wt]=\d+/g)].map(([, count = '']) => count),
  );
  const hasQuota = quotas.includes(headers.get('X-RateLimit-Limit') ?? 'none');
  // A suspended key has nothing left in any window, whatever its counters say.
  const hasLeft = status === TOO_MANY || left.includes(headers.get('X-RateLimit-Remaining') ?? 'none');
  return hasQuota && hasLeft ? [] : ['X-RateLimit-* and RateLimit tell of different windows'];
}
