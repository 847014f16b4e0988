import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import { openApiDocument } from '../../infra/reference/document.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { methodsOf } from '../../shared/contract/routes.ts';
import {
  unknownLimitHeaders,
  allowedMethods,
  corsHeaders,
  securityHeaders,
} from '../../shared/http/response-headers.ts';
import type { RawResponse } from './promises.ts';

const typed = v.looseObject({ type: v.optional(v.string()) });
const header = v.object({ required: v.boolean(), schema: typed });
const response = v.object({
  content: v.optional(v.object({ 'application/json': v.object({ schema: typed }) })),
  headers: v.record(v.string(), header),
});
const operation = v.object({ responses: v.record(v.string(), response) });
const documentSchema = v.object({
  paths: v.record(v.string(), v.record(v.string(), operation)),
  components: v.object({
    headers: v.record(v.string(), header),
    responses: v.record(v.string(), response),
    schemas: v.object({ Error: typed }),
  }),
});

type DeclaredHeaders = v.InferOutput<typeof response>['headers'];

/** Headers of HTTP itself, of CORS and of API Gateway, not in the document: clients leave them to their platform. */
const OF_PLATFORM = [
  'accept-patch',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'x-amz-apigw-id',
  'x-amzn-trace-id',
  ...Object.keys({ ...corsHeaders, ...securityHeaders }).map((name) => name.toLowerCase()),
];

const { 'Cache-Control': _byOperation, ...ofEveryResponse } = { ...corsHeaders, ...securityHeaders };

/** Errors of requests that are no operation, and the headers that each has besides those of every response. */
const UNROUTED: Readonly<Record<number, readonly string[]>> = {
  ...Object.fromEntries([400, 403, 404, 413, 500, 502, 504].map((status) => [status, []])),
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const ofPreflight = [
  ...['Origin', 'Methods', 'Headers'].map((what) => `Access-Control-Allow-${what}`),
  'Access-Control-Max-Age',
  ...Object.keys({ ...unknownLimitHeaders, ...securityHeaders }),
  'x-amzn-RequestId',
  'x-amz-apigw-id',
];

/** The OpenAPI document as a check of the service's responses. */
export class DocumentedApi {
  readonly #document: v.InferOutput<typeof documentSchema>;
  readonly #ajv = new Ajv2020({ allErrors: true, strictRequired: false });

  constructor() {
    const json = JSON.stringify(openApiDocument({ serverUrl: 'http://localhost/v1', environment: 'local' }));
    const strict = JSON.parse(json, (_, part: unknown) => closed(part));
    this.#document = v.parse(documentSchema, new Validator().resolveRefs({ specification: strict }));
    addFormats.default(this.#ajv);
  }

  /**
   * What about a response is not as the document says; empty where all is. HEAD is returned as GET, without a body.
   *
   * @param request its method, and its path below the base address, without a query
   */
  faults(reply: RawResponse, request: { readonly method: string; readonly path: string }): string[] {
    const path = this.#pathOf(request.path);
    const isHead = request.method === 'HEAD';
    const method = isHead ? 'get' : request.method.toLowerCase();
    const declared = path === undefined ? undefined : this.#document.paths[path]?.[method];
    if (path !== undefined && declared) return this.#faultsOfOperation(reply, declared, isHead);
    if (path !== undefined && request.method === 'OPTIONS') return faultsOfPreflight(reply, path);
    return this.#faultsOfUnrouted(reply, isHead);
  }

  #faultsOfOperation(reply: RawResponse, { responses }: v.InferOutput<typeof operation>, isHead: boolean): string[] {
    const declared = responses[reply.status];
    if (!declared) return [`status ${reply.status} is not declared`];
    const { schema } = declared.content?.['application/json'] ?? {};
    return [
      ...this.#faultsOfHeaders(reply.headers, declared.headers),
      ...(schema && !isHead ? this.#faultsOfBody(reply, schema) : faultsOfNoBody(reply)),
    ];
  }

  #faultsOfUnrouted(reply: RawResponse, isHead: boolean): string[] {
    const own = UNROUTED[reply.status];
    if (!own) return [`status ${reply.status} is not one of a request that is no operation`];
    const { responses, headers, schemas } = this.#document.components;
    const declared = Object.fromEntries(Object.entries(headers).filter(([name]) => own.includes(name)));
    return [
      ...this.#faultsOfHeaders(reply.headers, { ...responses['BadGateway']?.headers, ...declared }),
      ...(isHead ? faultsOfNoBody(reply) : this.#faultsOfBody(reply, schemas.Error)),
    ];
  }

  #faultsOfHeaders(headers: Headers, declared: DeclaredHeaders): string[] {
    return [
      ...undeclared(headers, Object.keys(declared)),
      ...Object.entries(ofEveryResponse).flatMap(([name, value]) =>
        headers.get(name) === value ? [] : [`header ${name} is ${headers.get(name)}`],
      ),
      ...Object.entries(declared).flatMap(([name, { required, schema }]) => {
        const value = headers.get(name);
        if (value === null) return required ? [`header ${name} is missing`] : [];
        const isValid = this.#ajv.compile(schema);
        const isInteger = schema.type === 'integer' && isInt64(value);
        return isValid(isInteger ? Number(value) : value) ? [] : [`header ${name}: ${value} ${reasons(isValid)}`];
      }),
    ];
  }

  #faultsOfBody({ headers, text }: RawResponse, schema: object): string[] {
    if (headers.get('Content-Type') !== 'application/json') return [`Content-Type is ${headers.get('Content-Type')}`];
    const isValid = this.#ajv.compile(schema);
    return isValid(parseExactly(text)) ? [] : [`body: ${reasons(isValid)}`];
  }

  #pathOf(path: string): string | undefined {
    return Object.keys(this.#document.paths).find((template) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
  }
}

function faultsOfPreflight({ status, headers, text }: RawResponse, path: string): string[] {
  const names = [...ofPreflight, ...Object.keys(allowedMethods(path))];
  const allowed = headers.get('Access-Control-Allow-Methods');
  return [
    ...(status === 204 && text === '' ? [] : [`a preflight returns ${status} and "${text}"`]),
    ...(allowed === methodsOf(path).join(', ') ? [] : [`a preflight allows ${allowed}`]),
    ...undeclared(headers, names),
    ...names.filter((name) => !headers.has(name)).map((name) => `header ${name} is missing`),
  ];
}

const faultsOfNoBody = ({ text }: RawResponse): string[] => (text === '' ? [] : [`there is a body: ${text}`]);

function undeclared(headers: Headers, declared: readonly string[]): string[] {
  const known = new Set([...OF_PLATFORM, ...declared.map((name) => name.toLowerCase())]);
  return [...headers.keys()].filter((name) => !known.has(name)).map((name) => `header ${name} is not declared`);
}

/** Readers take fields that they do not know. The tests do not. */
const closed = (part: unknown): unknown =>
  typeof part === 'object' && part !== null && 'properties' in part && 'required' in part
    ? { additionalProperties: false, ...part }
    : part;

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
