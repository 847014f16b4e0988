import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { pipeline } from './pipeline.ts';
import { type ProxyResult, type Reply, toResult } from './reply.ts';
import { requestLogging } from './request-logging.ts';

/**
 * The Lambda handler of an operation that answers at once, with the {@link pipeline} around it. Each request is logged.
 *
 * @param ownHeaders on every answer, errors too
 */
export function operationHandler(
  respond: (event: APIGatewayProxyEvent) => Promise<Reply>,
  ownHeaders: Readonly<Record<string, string>> = {},
) {
  return middy<APIGatewayProxyEvent, ProxyResult>(requestLogging())
    .use(pipeline<string>(ownHeaders))
    .handler(async (event) => toResult(await respond(event)));
}
