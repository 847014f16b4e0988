import { Readable } from 'node:stream';
import type { Request } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { serviceErrorOf } from '../contract/errors.ts';
import { operationAt } from '../contract/operations.ts';
import { takeColdStarts } from '../request-log/cold-starts.ts';
import { requestLog } from '../request-log/request-log.ts';
import { parseShare } from './authorizer-share.ts';
import type { ProxyResult } from './reply.ts';
import { requestTime } from './request-time.ts';

type Answered = Request<APIGatewayProxyEvent, ProxyResult<unknown>> & { readonly response: ProxyResult<unknown> };

/** Options of middy by which a handler logs each request once it is answered: a stream, once it has ended or broken off. */
export function requestLogging() {
  const log = requestLog();
  return {
    requestEnd: (request: unknown): void => {
      // middy hands over its own request object without its type; the pipeline gives every request an answer.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parsing it would copy the event of every request
      const { event, response, error } = request as Answered;
      const { requestId, authorizer } = event.requestContext;
      const { coldStarts, plan, keyId, outcome } = parseShare(authorizer);
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
    },
  };
}
