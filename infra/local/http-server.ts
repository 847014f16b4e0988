import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { type ErrorCode, ServiceError } from '../../shared/contract/errors.ts';
import { limitHeaders, unknownLimit } from '../../shared/http/authorizer-context.ts';
import { corsHeaders, securityHeaders } from '../../shared/http/response-headers.ts';
import { isControlPlanePath } from './account/control-plane.ts';
import { forwardToEngine, isDynamoDBCall } from './dynamodb/forward.ts';
import type { StreamedAnswer } from './gateway/messages.ts';
import type { RestApi } from './gateway/rest-api.ts';
import { OUTPUTS_PATH } from '../local-endpoint.ts';
import { findPageFile, sendPageFile } from './page.ts';
import { isOwnName, type PrivateAccess, refusalOf } from './private-access.ts';
import { readRequest, requestTarget } from './read-request.ts';

/** How long a request may take to arrive. */
export type Timings = Pick<ServerOptions, 'requestTimeout' | 'connectionsCheckingInterval'>;

const timingsByDefault: Timings = { requestTimeout: 60_000, connectionsCheckingInterval: 5_000 };

/** The adapter must not replace Request and Response of the whole process. */
const NODE_GLOBALS = { overrideGlobalObjects: false };

/** What the host's address leads to. */
export interface Service {
  readonly restApi: RestApi;
  readonly controlPlane: Hono;
  readonly engineEndpoint: URL;
  /** The outputs of the stack, for tools that need a table's name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * The host's one address: the API below its stage; at the root DynamoDB's API, API Gateway's own, the stack's outputs,
 * and the reference page.
 *
 * @param service requests that come before it is ready wait for it
 * @param access to all but the API and its page, which answer to anyone who calls them by a name of this host
 */
export function createHttpServer(
  service: Promise<Service>,
  access: PrivateAccess,
  timings: Timings = timingsByDefault,
): Server {
  // Node would refuse a request without Host by itself, and without a body.
  const server = createServer({ requireHostHeader: false, ...timings }, (message, response) => {
    route(service, access, message, response).catch((error: unknown) => {
      const hasHungUp = message.destroyed && !message.complete;
      if (hasHungUp) return;
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      if (response.headersSent) response.destroy();
      else sendError(response, 'INTERNAL_ERROR');
    });
  });
  // A client that has sent all it will, and says so, waits for its answer. The types do not know this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', refuseUnread);
  // This is no proxy. Node would hang up without a word.
  server.on('connect', (_, socket) => refuseAtSocket(socket, 'METHOD_NOT_ALLOWED', { Allow: 'GET, HEAD' }));
  // An expectation that is not known may be ignored (RFC 9110 §10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));
  return server;
}

async function route(
  service: Promise<Service>,
  access: PrivateAccess,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { restApi, controlPlane, engineEndpoint, outputs } = await service;
  const [path = ''] = requestTarget(message).split('?', 1);
  const hosts = message.headersDistinct['host']?.length ?? 0;
  const isDatabase = path === '/' && isDynamoDBCall(message);
  const isControlPlane = isControlPlanePath(path);
  const areOutputs = path === OUTPUTS_PATH && message.method === 'GET';
  if (hosts > 1) {
    sendError(response, 'BAD_REQUEST', 'The request has more than one Host header.');
  } else if (hosts === 0 && message.httpVersion === '1.1') {
    sendError(response, 'BAD_REQUEST', 'The request has no Host header.');
  } else if (isDatabase || isControlPlane || areOutputs) {
    const refusal = refusalOf(message, access);
    if (refusal !== undefined) sendAccessDenied(response, refusal);
    else if (isDatabase) await forwardToEngine(engineEndpoint, message, response);
    else if (isControlPlane) await getRequestListener(controlPlane.fetch, NODE_GLOBALS)(message, response);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(outputs));
  } else if (!isOwnName(message.headers.host ?? 'localhost', access.host)) {
    sendError(response, 'BAD_REQUEST', wrongName(message));
  } else if (path === `/${restApi.stage}` || path.startsWith(`/${restApi.stage}/`)) {
    await send(response, await restApi.answer(await readRequest(message, restApi.stage)));
  } else {
    await answerFromPage(path, restApi.stage, message, response);
  }
}

/** As AWS's own APIs say it: so that SDKs and the AWS CLI show the reason. */
function sendAccessDenied(response: ServerResponse, message: string): void {
  const type = 'AccessDeniedException';
  response
    .writeHead(403, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type })
    .end(JSON.stringify({ __type: type, message }));
}

function wrongName({ socket }: IncomingMessage): string {
  const own = `http://localhost:${socket.localPort}`;
  return (
    `The Host header has a name that this host does not answer to. Call it at ${own}, by an IP address or by the name ` +
    'of its machine; npm start -- --host NAME lets it answer to another name.'
  );
}

async function answerFromPage(
  path: string,
  stage: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { host = 'localhost' } = message.headers;
  const baseUrl = `http://${host}/${stage}`;
  const file = await findPageFile(path, baseUrl);
  if (!file) {
    sendError(response, 'ROUTE_NOT_FOUND', `There is nothing at this path. The API is at ${baseUrl}.`);
  } else if (message.method === 'GET' || message.method === 'HEAD') {
    await sendPageFile(file, message, response);
  } else {
    response.setHeader('Allow', 'GET, HEAD');
    sendError(response, 'METHOD_NOT_ALLOWED');
  }
}

/** A stream that fails cuts the connection: nobody may take a part for the whole. */
async function send(response: ServerResponse, { status, headers, body }: StreamedAnswer): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (Buffer.isBuffer(body)) return void response.end(body);
  // The head goes out as soon as it is known, however long the first bytes take.
  response.flushHeaders();
  await pipeline(body, response).catch(() => {
    response.destroy();
    // A client that has left before the answer is there leaves a body that nobody has begun to read.
    body.destroy();
  });
}

function sendError(response: ServerResponse, code: ErrorCode, message?: string): void {
  const { status, body } = new ServiceError(code, message === undefined ? {} : { message });
  response.writeHead(status, errorHeaders()).end(JSON.stringify(body));
}

/** The headers of every answer. */
function errorHeaders(): Record<string, string> {
  const limits = Object.fromEntries(Object.entries(limitHeaders).map(([name, source]) => [name, unknownLimit[source]]));
  return {
    'Content-Type': 'application/json',
    ...limits,
    ...corsHeaders,
    ...securityHeaders,
    'x-amzn-RequestId': randomUUID(),
    'x-amz-apigw-id': randomUUID(),
  };
}

/**
 * Answers what never becomes a request: what is not HTTP, has too long headers, or does not arrive in time. Node would
 * answer without a body.
 */
function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'The request did not arrive in time.';
    refuseAtSocket(socket, 'BAD_REQUEST', {}, { status: 408, message });
  } else refuseAtSocket(socket, 'BAD_REQUEST');
}

/** How long a client that was refused may take to read its answer before the connection is cut. */
const LINGER_MS = 1_000;

function refuseAtSocket(
  socket: Duplex,
  code: ErrorCode,
  more: Readonly<Record<string, string>> = {},
  differences: { readonly status?: number; readonly message?: string } = {},
): void {
  const body = { ...new ServiceError(code).body, ...differences };
  const text = JSON.stringify(body);
  const headers = { ...errorHeaders(), ...more, 'Content-Length': Buffer.byteLength(text), Connection: 'close' };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${head.join('')}\r\n${text}`);
  // A client that sends on, or keeps its side open, would hold the connection for good.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
