/*
 * The room `shared/http`: what surrounds every operation, written once.
 *
 * Problem: every function has to read the event of API Gateway, refuse what the authorizer refused, answer each failure
 * with the Error body, put the limit headers on each answer, and log one line. The file of a function says only what
 * its own operation does.
 *
 * Algorithm: `operationHandler` and `streamingHandler` put a middy pipeline around a function `ApiRequest` → `Reply`.
 * 1. `request.ts` reads the event; `authorizer-context.ts` reads the verdict in it.
 * 2. A request that was not admitted is answered with the error that the verdict names. A token that may only read
 *    changes nothing, nor does a request with query parameters: a change knows none.
 * 3. The function parses with `json-body.ts`, `update-headers.ts` or `list-query.ts`, asks its store, and replies.
 * 4. The pipeline adds the headers, leaves the body out for HEAD, and logs when the answer has ended.
 * Lists (`list-handler.ts`) stream: each page is read when the one before was taken.
 *
 * Concurrency: an execution environment serves one request at a time, so nothing here is shared between requests.
 * During a release the authorizer and a function may be of different versions: each value of the context that is
 * missing or unknown has a safe substitute. `probe.ts` sets up the store's connection while Lambda initializes.
 *
 * Errors: code below throws `ServiceError`, whose code, message and headers are the answer. Anything else is a fault of
 * ours: it is logged, and answered with 500 without a word of it. A stream that fails after it has begun is cut off, so
 * that no client takes a part for the whole.
 */
import { Readable } from 'node:stream';
import middy, { type MiddlewareObj, type Request } from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { ServiceError, serviceErrorOf } from '../contract/errors.ts';
import { isChange } from '../contract/routes.ts';
import { pageOrigin } from '../environment.ts';
import { logError } from '../log.ts';
import { requestLog } from '../request-log.ts';
import { ADMITTED, limitHeadersOf, refusalOf, UNCOUNTED } from './authorizer-context.ts';
import { isRequest, type Probe, runProbe, warmUp } from './probe.ts';
import { corsHeaders, helpLink, securityHeaders } from './response-headers.ts';
import { type ApiRequest, quoted, readRequest } from './request.ts';

type Headers = Readonly<Record<string, string>>;

/** An answer before the pipeline has put its headers on. */
export interface Reply<Body = string> {
  readonly status: number;
  readonly headers?: Headers;
  /** JSON text, or a stream of it. */
  readonly body: Body;
}

/** What Lambda hands to API Gateway; for a streamed answer all but the body goes ahead. */
interface ProxyResult<Body> {
  readonly statusCode: number;
  headers: Headers;
  body: Body;
}

type Respond<Body> = (request: ApiRequest) => Promise<Reply<Body>>;
type Middleware = MiddlewareObj<ApiRequest, ProxyResult<unknown>>;
type HandledRequest = Request<ApiRequest, ProxyResult<unknown>>;

export interface OperationOptions {
  /** On every answer, errors too. */
  readonly headers?: Headers;
  /** None where the operation calls nothing. */
  readonly probe?: Probe;
}

/** The Lambda function of an operation without a stream: its handler, and what Lambda awaits before any request. */
export function operationHandler(respond: Respond<string>, options: OperationOptions = {}) {
  return withPipeline<string>(middy({ requestEnd: requestLogger() }), respond, options);
}

/**
 * The Lambda function of an operation whose answer is streamed. What goes wrong before the reply is an Error body;
 * after that the connection is cut, so that no client takes a part for the whole.
 */
export function streamingHandler(respond: Respond<string | Readable>, options: OperationOptions = {}) {
  const handler = middy({ executionMode: executionModeStreamifyResponse, requestEnd: requestLogger() });
  return withPipeline<string | Readable>(handler, respond, options);
}

/**
 * What every operation has around it: it reads the request, refuses what the authorizer refused, turns what is thrown
 * into an Error body, puts headers on whatever goes out (the limit headers; those of CORS and security; the operation's
 * own), leaves the body out for HEAD, and logs the request once it is answered: a stream, once it has ended.
 */
function withPipeline<Body>(pipeline: middy.MiddyfiedHandler, respond: Respond<Body>, options: OperationOptions) {
  const { headers = {}, probe = async () => undefined } = options;
  const serve = pipeline
    .use([withHeaders(headers), withErrorBodies(headers['Link']), admittedOnly])
    .handler<ApiRequest, ProxyResult<Body>>(async (request) => toResult(await respond(request)));
  const handler = (event: APIGatewayProxyEvent, ...rest: [Context]) =>
    isRequest(event) ? serve(readRequest(event), ...rest) : runProbe(probe, rest);
  // Lambda knows a handler that streams by a mark.
  Object.assign(handler, serve);
  return { handler, initialize: () => warmUp(probe) };
}

const toResult = <Body>({ status, headers, body }: Reply<Body>): ProxyResult<Body> => ({
  statusCode: status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
});

function withHeaders(headers: Headers): Middleware {
  const add = ({ event: { authorizer, method }, response }: HandledRequest): void => {
    if (!response) return;
    response.headers = {
      ...corsHeaders,
      ...securityHeaders,
      ...headers,
      ...response.headers,
      ...limitHeadersOf(authorizer),
    };
    if (method === 'HEAD') response.body = '';
  };
  return { after: add, onError: add };
}

/** @param links of every answer: that to the page of the error comes beside them */
function withErrorBodies(links: string | undefined): Middleware {
  const page = pageOrigin();
  return {
    onError: (call) => {
      const { status, code, headers, body } = loggedErrorOf(call.error, call.event);
      const help = page !== undefined && { Link: [links, helpLink(page, code)].filter(Boolean).join(', ') };
      call.response = toResult({ status, headers: { ...headers, ...help }, body: JSON.stringify(body) });
    },
  };
}

/** What a failure is answered with; the cause of one that is the service's is logged. */
export function loggedErrorOf(failure: unknown, { id: requestId }: Pick<ApiRequest, 'id'>): ServiceError {
  const error = serviceErrorOf(failure);
  const { status, code, message, cause } = error;
  if (status >= 500 && cause !== undefined) logError(message, cause, { requestId, code });
  return error;
}

const admittedOnly: Middleware = {
  before: ({ event: { operation, authorizer, query } }) => {
    if (authorizer.outcome !== ADMITTED) throw refusalOf(authorizer);
    if (!operation || !isChange(operation)) return;
    if (authorizer.access !== 'full') throw new ServiceError('TOKEN_READ_ONLY');
    const [parameter] = Object.keys(query);
    if (parameter === undefined) return;
    const message = `The parameter ${quoted(parameter)} is unknown: changes take none.`;
    throw new ServiceError('INVALID_QUERY', { message });
  },
};

/** Logs a request, once it is answered. */
function requestLogger() {
  const log = requestLog();
  return (call: unknown): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- middy passes its own request, answered, untyped
    const { event: request, response, error } = call as HandledRequest & { readonly response: ProxyResult<unknown> };
    const { id: requestId, receivedAt, operation, authorizer } = request;
    const code = response.statusCode < 400 ? undefined : serviceErrorOf(error).code;
    log({
      requestId,
      receivedAt,
      operation,
      keyId: authorizer.principalId === UNCOUNTED ? undefined : authorizer.principalId,
      plan: authorizer.plan,
      status: response.statusCode,
      code,
      refusal: code === authorizer.outcome ? code : undefined,
      complete: !(response.body instanceof Readable) || response.body.readableEnded,
    });
  };
}
