import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import { type ErrorCode, errorCatalog, ServiceError } from '../../shared/contract/errors.ts';
import { unknownLimitHeaders, corsHeaders, helpLink, securityHeaders } from '../../shared/http/response-headers.ts';
import { demoKey } from '../demo-keys.ts';
import { OUTPUTS_PATH } from '../local-endpoint.ts';
import { policyHeader } from '../reference/content-security-policy.ts';
import { callerRefusal, isOwnName } from './addresses.ts';
import { isControlPlanePath } from './control-plane/control-plane.ts';
import { forwardToEngine, isDynamoDBCall } from './dynamodb/engine.ts';
import { readRequest, requestTarget } from './gateway/request.ts';
import type { RestApi, StreamedResponse } from './gateway/rest-api.ts';
import type { CompletedRequest, Terminal } from './terminal.ts';

/** Max size of request line and headers in API Gateway (developer guide, "Quotas"). */
const MAX_HEADER_BYTES = 10_240;

/** The services at the server's address. */
export interface Service {
  readonly restApi: RestApi;
  readonly controlPlane: (message: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly engineEndpoint: URL;
  /** The outputs of the stack, for tools that need a table's name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * The server's address: the API below its stage; at the root DynamoDB's API, API Gateway's own, the stack's outputs,
 * and the reference page.
 *
 * @param service requests wait until it is ready
 * @param listensAs name or address of the option `--host`
 * @param terminal shows the requests to the API and the page; without one they are not shown
 */
export function createHttpServer(service: Promise<Service>, listensAs: string, terminal?: Terminal): Server {
  // A missing Host is refused in route(), with an Error body.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false }, (message, response) => {
    const begunAt = performance.now();
    const [path = ''] = requestTarget(message).split('?', 1);
    const call: Call = { message, response, method: message.method ?? '', path };
    const show = (): void => {
      finished(response, () => {
        const status = response.headersSent ? response.statusCode : undefined;
        terminal?.request({ ...call, status, milliseconds: performance.now() - begunAt });
      });
    };
    route(service, listensAs, call, terminal).then(
      (isShown) => isShown && show(),
      (error: unknown) => {
        const isDisconnected = message.destroyed && !message.complete;
        if (isDisconnected) return;
        if (response.headersSent) response.destroy();
        else sendError(response, 'INTERNAL_ERROR');
        show();
        finished(response, () => process.stderr.write(`${inspect(error)}\n`));
      },
    );
  });
  // A client that half-closes the connection after its request still gets the response.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server
    .on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = refuseBytes(error, socket);
      if (status !== undefined) terminal?.request({ method: '-', path: '-', status, milliseconds: 0 });
    })
    .on('checkExpectation', (_, response) =>
      sendError(response, 'BAD_REQUEST', 'The header Expect must be 100-continue.'),
    );
}

/** A request; only those to the API have an id, and maybe a key and its token. */
interface Call extends Omit<CompletedRequest, 'status' | 'milliseconds'> {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

/** @returns whether the terminal shows it: calls of tools are hidden */
async function route(
  service: Promise<Service>,
  listensAs: string,
  call: Call,
  terminal: Terminal | undefined,
): Promise<boolean> {
  const { restApi, controlPlane, engineEndpoint, outputs } = await service;
  const { message, response, method, path } = call;
  const isDatabase = path === '/' && isDynamoDBCall(message);
  const isControlPlane = isControlPlanePath(path);
  const areOutputs = path === OUTPUTS_PATH && method === 'GET';
  const { host = message.httpVersion === '1.0' ? 'localhost' : '' } = message.headers;
  if (!isOwnName(host, listensAs)) {
    sendError(response, 'BAD_REQUEST', wrongName(message));
  } else if (isDatabase || isControlPlane || areOutputs) {
    const refusal = callerRefusal(message);
    if (refusal !== undefined) sendAccessDenied(response, refusal);
    else if (isDatabase) await forwardToEngine(engineEndpoint, message, response);
    else if (isControlPlane) await controlPlane(message, response);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(outputs));
    return false;
  } else if (path === `/${restApi.stage}` || path.startsWith(`/${restApi.stage}/`)) {
    const request = await readRequest(message, restApi.stage);
    Object.assign(call, { requestId: request.id });
    terminal?.begin(request.id);
    const result = await restApi.respond(request);
    Object.assign(call, { keyId: result.keyId, token: result.token });
    await send(response, result);
  } else {
    await respondWithPage(call, `http://${host}/${restApi.stage}`);
  }
  return true;
}

/** In the format of AWS's APIs, so SDKs and the AWS CLI show the reason. */
function sendAccessDenied(response: ServerResponse, message: string): void {
  const type = 'AccessDeniedException';
  response
    .writeHead(403, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type })
    .end(JSON.stringify({ __type: type, message }));
}

const wrongName = ({ socket }: IncomingMessage): string =>
  'The Host header is missing, or has a name that this server does not accept. Call it at ' +
  `http://localhost:${socket.localPort}, by an IP address or by the name of its machine; ` +
  'npm start -- --host NAME allows another name.';

/**
 * Sends a file of the reference page. No part of a request becomes a file path: the paths are a fixed list. The demo
 * key of the Free plan is prefilled.
 *
 * @param baseUrl address of the API for the reader's browser
 */
async function respondWithPage({ response, method, path }: Call, baseUrl: string): Promise<void> {
  // Loaded with the first request outside the API, for a faster start.
  const { pageFiles } = await import('../reference/page-files.ts');
  const files = pageFiles({ serverUrl: baseUrl, environment: 'local', demoKey: demoKey('free') });
  const file = files.get(path === '/' ? 'index.html' : path.slice(1));
  if (!file) {
    return sendError(response, 'ROUTE_NOT_FOUND', `There is nothing at this path. The API is at ${baseUrl}.`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return sendError(response, 'METHOD_NOT_ALLOWED');
  }
  const body = file.read();
  const headers = {
    'Content-Security-Policy': policyHeader(),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Content-Type': file.contentType,
    'Content-Length': body.length,
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  // For HEAD, Node.js omits the body.
  response.writeHead(200, headers).end(body);
}

/** A failed stream closes the connection, so no client mistakes a part for the whole. */
async function send(response: ServerResponse, { status, headers, body }: StreamedResponse): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (Buffer.isBuffer(body)) return void response.end(body);
  // Send the headers as soon as they are known, before the first bytes of the body.
  response.flushHeaders();
  await pipeline(body, response).catch(() => {
    response.destroy();
    // If the client disconnects before the response, no reader consumes the body.
    body.destroy();
  });
}

/** An error with the headers of every response of the API. */
function errorResponse(code: ErrorCode, message?: string, status: number = errorCatalog[code].status) {
  const body = { ...new ServiceError(code, { message }).body, status };
  const headers = {
    'Content-Type': 'application/json',
    ...unknownLimitHeaders,
    ...corsHeaders,
    ...securityHeaders,
    // The page is at the address of the request.
    Link: helpLink('', code),
    'x-amzn-RequestId': randomUUID(),
    'x-amz-apigw-id': randomUUID(),
  };
  return { status, headers, text: JSON.stringify(body) };
}

function sendError(response: ServerResponse, code: ErrorCode, message?: string): void {
  const { status, headers, text } = errorResponse(code, message);
  response.writeHead(status, headers).end(text);
}

/** The faults of requests that are no requests to Node.js, with status and reason. */
const refusals: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [400, `has more than ${MAX_HEADER_BYTES} bytes before its body`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'was not complete in time'],
};

/** Rejects an invalid, oversized or slow HTTP request, and closes the connection. @returns the status, if sent */
function refuseBytes({ code = '' }: NodeJS.ErrnoException, socket: Duplex): number | undefined {
  if (!socket.writable) return void socket.destroy();
  const [status, reason] = refusals[code] ?? [400, 'is not a valid HTTP request'];
  const { headers, text } = errorResponse('BAD_REQUEST', `This ${reason}.`, status);
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(text), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  return status;
}
