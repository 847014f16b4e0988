import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../../shared/log.ts';

/** Whether a request is a DynamoDB API call of an AWS SDK or the AWS CLI. */
export function isDynamoDBCall({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && String(headers['x-amz-target'] ?? '').startsWith('DynamoDB_');
}

/** Forwards a DynamoDB API call to the engine, and its response back. */
export async function forwardToEngine(
  endpoint: URL,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call = httpRequest(endpoint, {
    method: 'POST',
    headers: { ...message.headers, host: endpoint.host, connection: 'keep-alive' },
  });
  try {
    // A failure here fails the call. It ends only after the complete response, which nothing else reads.
    pipeline(message, call).catch(() => undefined);
    const [upstream]: IncomingMessage[] = await once(call, 'response');
    response.writeHead(upstream?.statusCode ?? 502, upstream?.headers);
    if (upstream) await pipeline(upstream, response);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    const reason = `The DynamoDB engine is unavailable: ${messageOf(error)}`;
    const fault = { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: reason };
    response.writeHead(503, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(fault));
  }
}
