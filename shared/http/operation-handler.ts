import middy, { type MiddlewareObj, type Request } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { logError } from '../log.ts';
import { type AuthorizerContext, limitHeaders, parseAuthorizerContext, refusalCode } from './authorizer-context.ts';

/** An answer before the pipeline has put its headers on. `body` is JSON text. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

type Pipeline = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** The longest result that Lambda hands over, as JSON text in bytes (its error message names this figure). */
const MAX_RESULT_BYTES = 6_291_556;
/** Of a UTF-16 code unit in UTF-8, or escaped in JSON. */
const MAX_BYTES_PER_UNIT = 6;
/** Left for the headers that the pipeline adds afterwards. */
const HEADROOM_BYTES = 1_024;

/**
 * The Lambda handler of an operation: the pipeline refuses what the authorizer refused, runs `respond`, turns what it
 * throws into an Error body, and puts the limit headers on whatever goes out (spec §7 and §8).
 */
export function operationHandler(respond: (event: APIGatewayProxyEvent) => Promise<Reply>) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(withLimitHeaders())
    .use(withErrorBodies())
    .use(admittedOnly())
    .handler(async (event) => toResult(await respond(event)));
}

function withLimitHeaders(): Pipeline {
  return { after: addLimitHeaders, onError: addLimitHeaders };
}

function addLimitHeaders({ event, response }: Request<APIGatewayProxyEvent, APIGatewayProxyResult>): void {
  if (!response) return;
  const context: Partial<AuthorizerContext> = event.requestContext.authorizer ?? {};
  for (const [header, source] of Object.entries(limitHeaders)) {
    response.headers = { ...response.headers, [header]: context[source] ?? '0' };
  }
}

function withErrorBodies(): Pipeline {
  return {
    onError: (request) => {
      const { error, event } = request;
      const answer =
        error instanceof ServiceError ? error : new ServiceError('INTERNAL_ERROR', { cause: error ?? undefined });
      if (answer.status >= 500 && answer.cause !== undefined) {
        logError(answer.message, answer.cause, { requestId: event.requestContext.requestId, code: answer.code });
      }
      request.response = toResult({ status: answer.status, body: JSON.stringify(answer.body) }, answer.headers);
    },
  };
}

function admittedOnly(): Pipeline {
  return {
    before: ({ event }) => {
      const context = parseAuthorizerContext(event.requestContext.authorizer);
      const code = refusalCode(context);
      if (code) throw new ServiceError(code, { headers: { 'Retry-After': context.retryAfter } });
    },
  };
}

function toResult({ status, body }: Reply, headers: Readonly<Record<string, string>> = {}): APIGatewayProxyResult {
  const result = { statusCode: status, headers: { 'Content-Type': 'application/json', ...headers }, body };
  if (
    body.length > MAX_RESULT_BYTES / MAX_BYTES_PER_UNIT &&
    Buffer.byteLength(JSON.stringify(result)) + HEADROOM_BYTES > MAX_RESULT_BYTES
  ) {
    throw new ServiceError('RESPONSE_TOO_LARGE');
  }
  return result;
}
