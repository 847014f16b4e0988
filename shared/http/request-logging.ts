import { Readable } from 'node:stream';
import * as v from 'valibot';
import { serviceErrorOf } from '../contract/errors.ts';
import { operationAt } from '../contract/operations.ts';
import { requestLog } from '../request-log/request-log.ts';
import { takeUsage } from '../request-log/usage.ts';
import { parseShare } from './authorizer-share.ts';

const answeredRequestSchema = v.object({
  event: v.object({
    resource: v.string(),
    httpMethod: v.string(),
    requestContext: v.object({ requestId: v.string(), requestTimeEpoch: v.number(), authorizer: v.unknown() }),
  }),
  response: v.object({ statusCode: v.number(), body: v.unknown() }),
  error: v.unknown(),
});

/** Options of middy by which a handler logs each request once it is answered: a stream, once it has ended or broken off. */
export function requestLogging() {
  const log = requestLog();
  return {
    requestEnd: (request: unknown): void => {
      const { event, response, error } = v.parse(answeredRequestSchema, request);
      const { requestId, requestTimeEpoch, authorizer } = event.requestContext;
      const { share, plan, keyId, outcome } = parseShare(authorizer);
      const own = takeUsage();
      const code = response.statusCode < 400 ? undefined : serviceErrorOf(error).code;
      log({
        requestId,
        receivedAt: requestTimeEpoch,
        operation: operationAt(event.httpMethod, event.resource),
        keyId,
        plan,
        status: response.statusCode,
        code,
        refusal: code === outcome ? code : undefined,
        complete: !(response.body instanceof Readable) || response.body.readableEnded,
        readUnits: own.readUnits + share.readUnits,
        writeUnits: own.writeUnits + share.writeUnits,
        coldStarts: own.coldStarts + share.coldStarts,
        conflicts: share.conflicts,
      });
    },
  };
}
