/*
 * The directory `shared/http`: a middy pipeline around the function of each operation, `ApiRequest` → `Reply`.
 *
 * 1. `request.ts` reads the event, and the authorizer's verdict in it.
 * 2. A request that was not admitted returns the error in its verdict. A read-only token cannot update. A query
 *    parameter that the operation does not have is refused.
 * 3. The function parses with `json-body.ts`, `conditional-requests.ts` or `list-query.ts`, calls its store, and
 *    replies. Lists (`list-handler.ts`) stream: each page is read when the previous one was sent.
 * 4. The pipeline adds the headers, omits the body for HEAD, and logs when the response has ended.
 *
 * Concurrency: an execution environment serves one request at a time, so nothing here is shared between requests.
 * During a release the authorizer and a function may have different versions: each context value that is
 * missing or unknown has a safe default. `probe.ts` sets up the store's connection while Lambda initializes.
 *
 * Errors: code below throws `ServiceError`, whose code, message and headers are the response, or what has happened: if
 * DynamoDB is unavailable, the response is 503 (`shared/dynamodb.ts`). Other errors are bugs: they are logged, and
 * return 500 without details. A stream that fails after it has begun is disconnected: no client takes a part for all.
 */
import { Readable } from 'node:stream';
import middy, { type MiddlewareObj, type Request } from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { ServiceError, serviceErrorOf } from '../contract/errors.ts';
import { isChange } from '../contract/routes.ts';
import { pageOrigin } from '../environment.ts';
import { logError, requestLog } from '../log.ts';
import { ADMITTED, refusalOf, UNCOUNTED, type ApiRequest, quoted, readRequest } from './request.ts';
import { limitHeadersOf, corsHeaders, helpLink, securityHeaders } from './response-headers.ts';
import { type Probes, probed } from './probe.ts';

type Headers = Readonly<Record<string, string>>;

/** A response before the pipeline adds its headers. */
export interface Reply<Body = string> {
  readonly status: number;
  readonly headers?: Headers;
  /** JSON text, or a stream of it. */
  readonly body: Body;
}

/** The result that Lambda returns to API Gateway; for a stream, all but the body is sent first. */
interface ProxyResult<Body> {
  readonly statusCode: number;
  headers: Headers;
  body: Body;
}

type Respond<Body> = (request: ApiRequest) => Promise<Reply<Body>>;
type Middleware = MiddlewareObj<ApiRequest, ProxyResult<unknown>>;
type HandledRequest = Request<ApiRequest, ProxyResult<unknown>>;

export interface OperationOptions {
  /** Headers of every response, errors included. */
  readonly headers?: Headers;
  /** Names of its query parameters; none by default. */
  readonly parameters?: readonly string[];
  /** None if the operation calls nothing: its bundle then has nothing of DynamoDB. */
  readonly store?: {
    readonly probes: Probes;
    /** The response to a failure, which the store throws as it happened. */
    readonly responseTo: (failure: unknown) => ServiceError;
  };
}

/** The Lambda function of an operation without a stream: its handler, and its initialization before any request. */
export const operationHandler = (respond: Respond<string>, options?: OperationOptions) =>
  withPipeline(respond, {}, options);

/** The same with a streamed response. */
export const streamingHandler = (respond: Respond<string | Readable>, options?: OperationOptions) =>
  withPipeline(respond, { executionMode: executionModeStreamifyResponse }, options);

function withPipeline<Body>(
  respond: Respond<Body>,
  mode: middy.PluginObject,
  { headers = {}, parameters = [], store = { probes: [], responseTo: serviceErrorOf } }: OperationOptions = {},
) {
  const serve = middy({ ...mode, requestEnd: requestLogger() })
    .use([withHeaders(headers, store.responseTo), admittedOnly(parameters)])
    .handler<ApiRequest, ProxyResult<Body>>(async (request) => toResult(await respond(request)));
  const exported = probed(
    (event: APIGatewayProxyEvent, ...rest: [Context]) => serve(readRequest(event), ...rest),
    store.probes,
  );
  // Lambda recognizes a streaming handler by a marker.
  Object.assign(exported.handler, serve);
  return exported;
}

/** A 304 has no content to describe (RFC 9110 §15.4.5). */
const toResult = <Body>({ status, headers, body }: Reply<Body>): ProxyResult<Body> => ({
  statusCode: status,
  headers: { ...(status !== 304 && { 'Content-Type': 'application/json' }), ...headers },
  body,
});

/** Converts a failure to an Error body, and adds the headers of every response, with a link to an error's page. */
function withHeaders(headers: Headers, responseTo: (failure: unknown) => ServiceError): Middleware {
  const page = pageOrigin();
  const after = ({ event: { authorizer, method }, response }: HandledRequest): void => {
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
  const onError = (call: HandledRequest): void => {
    const error = logged(responseTo(call.error), call.event);
    call.error = error;
    const { status, code, headers: own, body } = error;
    const help = page !== undefined && { Link: [headers['Link'], helpLink(page, code)].filter(Boolean).join(', ') };
    call.response = toResult({ status, headers: { ...own, ...help }, body: JSON.stringify(body) });
    after(call);
  };
  return { after, onError };
}

/** Logs the cause of a server error. @returns the error */
export function logged(error: ServiceError, { id: requestId }: Pick<ApiRequest, 'id'>): ServiceError {
  const { status, code, message, cause } = error;
  if (status >= 500 && cause !== undefined) logError(message, cause, { requestId, code });
  return error;
}

const admittedOnly = (parameters: readonly string[]): Middleware => ({
  before: ({ event: { operation, authorizer, query } }) => {
    if (authorizer.outcome !== ADMITTED) throw refusalOf(authorizer);
    if (!operation) return;
    if (isChange(operation) && authorizer.access !== 'full') throw new ServiceError('TOKEN_READ_ONLY');
    const unknown = Object.keys(query).find((name) => !parameters.includes(name));
    if (unknown === undefined) return;
    const message = `The parameter ${quoted(unknown)} is unknown: ${operation} has ${parameters.join(', ') || 'none'}.`;
    throw new ServiceError('INVALID_QUERY', { message });
  },
});

/** Logs a request, once its response has ended. */
function requestLogger() {
  const log = requestLog();
  return (call: unknown): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- middy's request, with the response, is untyped
    const { event: request, response, error } = call as HandledRequest & { readonly response: ProxyResult<unknown> };
    const { id: requestId, receivedAt, operation, authorizer } = request;
    const { statusCode, body } = response;
    const failure = body instanceof Readable ? body.errored : statusCode >= 500 && serviceErrorOf(error);
    const code = statusCode < 400 ? undefined : serviceErrorOf(error).code;
    log({
      requestId,
      receivedAt,
      operation,
      keyId: authorizer.principalId === UNCOUNTED ? undefined : authorizer.principalId,
      token: authorizer.token,
      plan: authorizer.plan,
      status: statusCode,
      code,
      refusal: code === authorizer.outcome ? code : undefined,
      complete: !(body instanceof Readable) || body.readableEnded,
      cause: causeOf(failure),
    });
  };
}

/** The name of the error behind a failure. */
function causeOf(failure: unknown): string | undefined {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  return cause instanceof Error ? cause.name : undefined;
}
