import { Readable } from 'node:stream';
import middy, { type MiddlewareObj, type Request } from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError, serviceErrorOf } from '../contract/errors.ts';
import { changes, operationAt } from '../contract/operations.ts';
import { logError } from '../log.ts';
import { requestLog, takeColdStarts } from '../request-log.ts';
import {
  type AuthorizerContext,
  limitHeaders,
  parseAuthorizerContext,
  readAuthorizerMetrics,
  refusalCode,
  unknownLimit,
} from './authorizer-context.ts';
import { isRehearsal } from './rehearsal.ts';
import { corsHeaders, securityHeaders } from './response-headers.ts';
import { requestTime } from './request.ts';

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

type Respond<Body> = (event: APIGatewayProxyEvent) => Promise<Reply<Body>>;
type Middleware = MiddlewareObj<APIGatewayProxyEvent, ProxyResult<unknown>>;
type Answered = Request<APIGatewayProxyEvent, ProxyResult<unknown>>;

/**
 * The Lambda handler of an operation that answers at once.
 *
 * @param ownHeaders on every answer, errors too
 */
export function operationHandler(respond: Respond<string>, ownHeaders: Headers = {}) {
  return withPipeline<string>(middy({ requestEnd: requestLogger() }), respond, ownHeaders);
}

/**
 * The Lambda handler of an operation whose answer is streamed. What goes wrong before the reply is an Error body; after
 * that the connection is cut, so that nobody takes a part for the whole.
 *
 * @param ownHeaders on every answer, errors too
 */
export function streamingHandler(respond: Respond<string | Readable>, ownHeaders: Headers = {}) {
  const handler = middy({ executionMode: executionModeStreamifyResponse, requestEnd: requestLogger() });
  return withPipeline<string | Readable>(handler, respond, ownHeaders);
}

/**
 * What every operation has around it: it refuses what the authorizer refused, turns what is thrown into an Error body,
 * puts headers on whatever goes out (the limit headers, spec §8, rule 1; those of CORS and security; the operation's
 * own), leaves the body out for HEAD, and logs the request once it is answered: a stream, once it has ended or broken off.
 */
function withPipeline<Body>(handler: middy.MiddyfiedHandler, respond: Respond<Body>, ownHeaders: Headers) {
  return handler
    .use([withHeaders(ownHeaders), withErrorBodies, admittedOnly])
    .handler<APIGatewayProxyEvent, ProxyResult<Body>>(async (event) => toResult(await respond(event)));
}

const toResult = <Body>({ status, headers, body }: Reply<Body>): ProxyResult<Body> => ({
  statusCode: status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
});

function withHeaders(headers: Headers): Middleware {
  const add = ({ event, response }: Answered): void => {
    if (!response) return;
    const context: Partial<AuthorizerContext> = event.requestContext.authorizer ?? {};
    const limits = Object.entries(limitHeaders).map(([name, source]) => [
      name,
      context[source] ?? unknownLimit[source],
    ]);
    response.headers = {
      ...corsHeaders,
      ...headers,
      ...response.headers,
      ...securityHeaders,
      ...Object.fromEntries(limits),
    };
    if (event.httpMethod === 'HEAD') response.body = '';
  };
  return { after: add, onError: add };
}

const withErrorBodies: Middleware = {
  onError: (request) => {
    const { status, code, headers, body, message, cause } = serviceErrorOf(request.error);
    if (status >= 500 && cause !== undefined && !isRehearsal(request.event)) {
      logError(message, cause, { requestId: request.event.requestContext.requestId, code });
    }
    request.response = toResult({ status, headers, body: JSON.stringify(body) });
  },
};

const admittedOnly: Middleware = {
  before: ({ event: { httpMethod, resource, requestContext } }) => {
    const context = parseAuthorizerContext(requestContext.authorizer);
    const code = refusalCode(context);
    if (code) throw new ServiceError(code, { headers: { 'Retry-After': context.retryAfter } });
    const operation = operationAt(httpMethod, resource);
    if (operation && changes(operation) && context.access !== 'full') throw new ServiceError('TOKEN_READ_ONLY');
  },
};

/** Logs a request, once it is answered. */
function requestLogger() {
  const log = requestLog();
  return (request: unknown): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- middy hands over its own request, answered, without its type
    const { event, response, error } = request as Answered & { readonly response: ProxyResult<unknown> };
    if (isRehearsal(event)) return;
    const { requestId, authorizer } = event.requestContext;
    const { coldStarts, plan, keyId, outcome } = readAuthorizerMetrics(authorizer);
    const code = response.statusCode < 400 ? undefined : serviceErrorOf(error).code;
    log({
      requestId,
      receivedAt: requestTime(event),
      operation: operationAt(event.httpMethod, event.resource),
      keyId,
      plan,
      status: response.statusCode,
      code,
      refusal: code === outcome ? code : undefined,
      complete: !(response.body instanceof Readable) || response.body.readableEnded,
      coldStarts: takeColdStarts() + coldStarts,
    });
  };
}
