import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';

const httpAgent = new Agent({ keepAlive: true });
const httpsAgent = new HttpsAgent({ keepAlive: true });

/** Whether a request is a DynamoDB API call, as an AWS SDK or the AWS CLI sends it. */
export function isDynamoDBCall({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && String(headers['x-amz-target'] ?? '').startsWith('DynamoDB_');
}

/** Hands a DynamoDB API call over to the engine, and its answer back. */
export async function forwardToEngine(
  endpoint: URL,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isHttps = endpoint.protocol === 'https:';
  const call = (isHttps ? httpsRequest : httpRequest)(endpoint, {
    agent: isHttps ? httpsAgent : httpAgent,
    method: 'POST',
    headers: { ...message.headers, host: endpoint.host, connection: 'keep-alive' },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve);
    call.once('error', reject);
  });
  try {
    const [answer] = await Promise.all([answered, pipeline(message, call)]);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    await pipeline(answer, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else response.writeHead(503, { 'content-type': 'application/x-amz-json-1.0' }).end(unavailable(error));
  }
}

function unavailable(error: unknown): string {
  const message = `The DynamoDB engine cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
  return JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message });
}
