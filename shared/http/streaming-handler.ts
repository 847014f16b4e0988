import type { Readable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { pipeline } from './pipeline.ts';
import { type ProxyResult, type StreamedReply, toResult } from './reply.ts';
import { requestLogging } from './request-logging.ts';

/**
 * The Lambda handler of an operation whose answer is streamed, with the {@link pipeline} around it. What goes wrong
 * before the reply is an Error body; after that the connection is cut, so that nobody takes a part for the whole. Each request is logged when its stream has ended.
 *
 * @param ownHeaders on every answer, errors too
 */
export function streamingHandler(
  respond: (event: APIGatewayProxyEvent) => Promise<StreamedReply>,
  ownHeaders: Readonly<Record<string, string>> = {},
) {
  return middy<APIGatewayProxyEvent, ProxyResult<string | Readable>>({
    executionMode: executionModeStreamifyResponse,
    ...requestLogging(),
  })
    .use(pipeline<string | Readable>(ownHeaders))
    .handler(async (event) => toResult(await respond(event)));
}
