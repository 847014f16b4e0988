import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError, serviceErrorOf } from '../contract/errors.ts';
import { logError } from '../log.ts';
import {
  type AuthorizerContext,
  limitHeaders,
  parseAuthorizerContext,
  refusalCode,
  unknownLimit,
} from './authorizer-context.ts';
import { corsHeaders } from './cors.ts';
import { type ProxyResult, toResult } from './reply.ts';

type Middleware<Body> = MiddlewareObj<APIGatewayProxyEvent, ProxyResult<Body>>;

/**
 * What every operation has around it: it refuses what the authorizer refused, turns what is thrown into an Error body,
 * and puts headers on whatever goes out: the limit headers (spec §8, rule 1), those of CORS, and the operation's own.
 */
export function pipeline<Body>(ownHeaders: Readonly<Record<string, string>>): Middleware<Body | string>[] {
  const headers = { ...corsHeaders(process.env.PAGE_ORIGIN), ...ownHeaders };
  return [withHeaders(headers), withErrorBodies(), admittedOnly()];
}

function withHeaders<Body>(headers: Readonly<Record<string, string>>): Middleware<Body> {
  const add = ({ event, response }: Request<APIGatewayProxyEvent, ProxyResult<Body>>): void => {
    if (!response) return;
    const context: Partial<AuthorizerContext> = event.requestContext.authorizer ?? {};
    const limits = Object.entries(limitHeaders).map(([header, source]) => [
      header,
      context[source] ?? unknownLimit[source],
    ]);
    response.headers = { ...headers, ...response.headers, ...Object.fromEntries(limits) };
  };
  return { after: add, onError: add };
}

function withErrorBodies<Body>(): Middleware<Body | string> {
  return {
    onError: (request) => {
      const { error, event } = request;
      const answer = serviceErrorOf(error);
      if (answer.status >= 500 && answer.cause !== undefined) {
        logError(answer.message, answer.cause, { requestId: event.requestContext.requestId, code: answer.code });
      }
      const { status, headers } = answer;
      request.response = toResult({ status, headers, body: JSON.stringify(answer.body) });
    },
  };
}

function admittedOnly<Body>(): Middleware<Body> {
  return {
    before: ({ event }) => {
      const context = parseAuthorizerContext(event.requestContext.authorizer);
      const code = refusalCode(context);
      if (code) throw new ServiceError(code, { headers: { 'Retry-After': context.retryAfter } });
    },
  };
}
