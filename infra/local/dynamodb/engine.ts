import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../shared/log.ts';
import { hasStore, makeDirectory, openDataDirectory, unusable } from '../directories.ts';
import type { Grant } from '../iam.ts';
import type { CallerMessage } from './dynalite.worker.ts';
import type { EngineServerOptions } from './engine-server.ts';

export type Engine = Awaited<ReturnType<typeof startEmbeddedEngine>>;

/**
 * Starts the embedded engine (dynalite) on its own port, reachable from this machine only. Its address contains a
 * secret, so only callers that got it from the server can call it.
 *
 * @param directory the data directory; in memory without one
 * @throws LocalServerError if the directory cannot be used
 */
export async function startEmbeddedEngine(directory: string | undefined) {
  if (directory !== undefined) openDataDirectory(directory);
  const store = directory === undefined ? undefined : makeDirectory(directory, 'dynamodb');
  const callPath = `/${randomBytes(32).toString('hex')}/`;
  const options: EngineServerOptions = {
    directory: store,
    mustExist: store !== undefined && hasStore(store),
    callers: new Map([[callPath, [{ actions: ['*'], resources: ['*'] }]]]),
  };
  const worker = new Worker(new URL('dynalite.worker.ts', import.meta.url), {
    workerData: options,
    // By default V8's young generation grows with the traffic.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const fail = ({ message }: Error): never => {
    throw unusable(directory ?? 'in memory', message);
  };
  const [address]: (AddressInfo | undefined)[] = await once(worker, 'message').catch(fail);
  // dynalite throws if its store cannot read or write. Without its database the server cannot continue.
  worker.on('error', fail);
  const endpoint = new URL(callPath, `http://127.0.0.1:${address?.port}`);
  return {
    /** As an AWS endpoint. */
    endpoint,
    /** The address for a caller with restricted permissions. */
    endpointFor: (caller: string, grants: readonly Grant[]): URL => {
      const url = new URL(`${caller}/`, endpoint);
      worker.postMessage([url.pathname, grants] satisfies CallerMessage);
      return url;
    },
    /** LevelDB closes with its thread. No caller waits for calls in progress. */
    close: async (): Promise<void> => void (await worker.terminate()),
  };
}

/** Whether a request is a DynamoDB API call of an AWS SDK or the AWS CLI. */
export function isDynamoDBCall({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && String(headers['x-amz-target'] ?? '').startsWith('DynamoDB_');
}

/** The default agent would use a proxy of this machine (NODE_USE_ENV_PROXY). */
const agent = new Agent({ keepAlive: true, timeout: 5_000 });

/** Forwards a DynamoDB API call to the engine, and its response back. */
export async function forwardToEngine(
  endpoint: URL,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call = httpRequest(endpoint, {
    method: 'POST',
    agent,
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
