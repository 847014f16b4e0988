import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, ServiceError } from '../../shared/contract/errors.ts';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';
import { forwardToEngine, isDynamoDBCall } from './dynamodb/forward.ts';
import type { GatewayAnswer } from './gateway/messages.ts';
import type { RestApi } from './gateway/rest-api.ts';
import { HostError } from './host-error.ts';
import { OUTPUTS_PATH } from './outputs-path.ts';
import { readRequest, requestTarget } from './read-request.ts';

export interface FrontServerSettings {
  readonly restApi: RestApi;
  readonly engineEndpoint: URL;
  /** The outputs of the stack, for tools that need a table's name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** The host's one address: the API below its stage, DynamoDB's API at the root, the stack's outputs. */
export function createFrontServer(settings: FrontServerSettings): Server {
  // Node would refuse a request without Host by itself, and without a body.
  const server = createServer({ requireHostHeader: false }, (message, response) => {
    route(settings, message, response).catch((error: unknown) => {
      const hasHungUp = message.destroyed && !message.complete;
      if (hasHungUp) return;
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      if (response.headersSent) response.destroy();
      else sendError(response, 'INTERNAL_ERROR');
    });
  });
  server.on('clientError', refuseMalformed);
  // An expectation that is not known may be ignored (RFC 9110 §10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));
  return server;
}

/** @throws HostError where the address cannot be had */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new HostError(describe(error, host, port))));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

function describe(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is taken. Choose another with --port, or --port 0 for any.`;
  if (error.code === 'EACCES') return `Port ${port} needs more rights. Choose one above 1023 with --port.`;
  return `The address ${host} cannot be used: ${error.message}. Choose another with --host.`;
}

async function route(
  { restApi, engineEndpoint, outputs }: FrontServerSettings,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = requestTarget(message).split('?', 1);
  if (message.headers.host === undefined && message.httpVersion === '1.1') {
    sendError(response, 'BAD_REQUEST', 'The request has no Host header.');
  } else if (path === `/${restApi.stage}` || path.startsWith(`/${restApi.stage}/`)) {
    send(response, await restApi.answer(await readRequest(message, restApi.stage)));
  } else if (path === '/' && isDynamoDBCall(message)) {
    await forwardToEngine(engineEndpoint, message, response);
  } else if (path === OUTPUTS_PATH && message.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(outputs));
  } else {
    const baseUrl = `http://${message.headers.host ?? 'localhost'}/${restApi.stage}`;
    sendError(response, 'ROUTE_NOT_FOUND', `There is nothing at this path. The API is at ${baseUrl}.`);
  }
}

function send(response: ServerResponse, { status, headers, body }: GatewayAnswer): void {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.end(body);
}

function sendError(response: ServerResponse, code: ErrorCode, message?: string): void {
  const { status, body } = new ServiceError(code, message === undefined ? {} : { message });
  response.writeHead(status, errorHeaders()).end(JSON.stringify(body));
}

function errorHeaders(): Record<string, string> {
  const limits = Object.fromEntries(Object.keys(limitHeaders).map((name) => [name, '0']));
  return { 'Content-Type': 'application/json', ...limits };
}

/** A request that is not HTTP, or whose headers are too long: Node would answer it without a body. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const { status, body } = new ServiceError('BAD_REQUEST');
  const text = JSON.stringify(body);
  const headers = { ...errorHeaders(), 'Content-Length': Buffer.byteLength(text), Connection: 'close' };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${head.join('')}\r\n${text}`);
}
