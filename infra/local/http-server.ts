import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import { type ErrorCode, ServiceError } from '../../shared/contract/errors.ts';
import { unknownLimitHeaders } from '../../shared/http/authorizer-context.ts';
import { corsHeaders, helpLink, securityHeaders } from '../../shared/http/response-headers.ts';
import { OUTPUTS_PATH } from '../local-endpoint.ts';
import { type ControlPlane, isControlPlanePath } from './control-plane/control-plane.ts';
import { forwardToEngine, isDynamoDBCall } from './dynamodb/forward.ts';
import type { StreamedResponse } from './gateway/messages.ts';
import type { RestApi } from './gateway/rest-api.ts';
import { findPageFile, sendPageFile } from './page.ts';
import { isOwnName, refusalOf } from './private-access.ts';
import { readBody, readRequest, requestTarget } from './read-request.ts';
import type { CompletedRequest, Terminal } from './terminal.ts';

/** Request line and headers that API Gateway takes (developer guide, "Quotas"). */
const MAX_HEADER_BYTES = 10_240;

/** What the host's address leads to. */
export interface Service {
  readonly restApi: RestApi;
  readonly controlPlane: ControlPlane;
  readonly engineEndpoint: URL;
  /** The outputs of the stack, for tools that need a table's name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * The host's one address: the API below its stage; at the root DynamoDB's API, API Gateway's own, the stack's outputs,
 * and the reference page.
 *
 * @param service requests that come before it is ready wait for it
 * @param listensAs name or address that the host was started with
 * @param terminal shows the requests to the API and the page; without one they are not shown
 */
export function createHttpServer(service: Promise<Service>, listensAs: string, terminal?: Terminal): Server {
  // A missing Host is refused in route(), with an Error body.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false }, (message, response) => {
    const begunAt = performance.now();
    const { method = '' } = message;
    const [path = ''] = requestTarget(message).split('?', 1);
    const shown: Shown = {};
    const show = (): void => {
      finished(response, () => {
        const status = response.headersSent ? response.statusCode : undefined;
        terminal?.request({ ...shown, method, path, status, milliseconds: performance.now() - begunAt });
      });
    };
    const begin = (id: string): void => {
      shown.requestId = id;
      terminal?.begin(id);
    };
    route(service, listensAs, message, response, { shown, begin }).then(
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
  // A client that has sent its request and closes its half still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server
    .on('clientError', (error: NodeJS.ErrnoException, socket) => refuseBytes(error, socket))
    .on('checkExpectation', (_, response) =>
      sendError(response, 'BAD_REQUEST', 'The header Expect may only have the value 100-continue.'),
    );
}

/** What the terminal shows of a request that only the API knows. */
type Shown = { -readonly [Name in 'requestId' | 'keyId']?: CompletedRequest[Name] };

/** @returns whether the terminal shows it: no calls of tools */
async function route(
  service: Promise<Service>,
  listensAs: string,
  message: IncomingMessage,
  response: ServerResponse,
  { shown, begin }: { readonly shown: Shown; readonly begin: (requestId: string) => void },
): Promise<boolean> {
  const { restApi, controlPlane, engineEndpoint, outputs } = await service;
  const [path = ''] = requestTarget(message).split('?', 1);
  const isDatabase = path === '/' && isDynamoDBCall(message);
  const isControlPlane = isControlPlanePath(path);
  const areOutputs = path === OUTPUTS_PATH && message.method === 'GET';
  const { host = message.httpVersion === '1.0' ? 'localhost' : '' } = message.headers;
  if (!isOwnName(host, listensAs)) {
    sendError(response, 'BAD_REQUEST', wrongName(message));
  } else if (isDatabase || isControlPlane || areOutputs) {
    const refusal = refusalOf(message);
    if (refusal !== undefined) sendAccessDenied(response, refusal);
    else if (isDatabase) await forwardToEngine(engineEndpoint, message, response);
    else if (isControlPlane) await callControlPlane(controlPlane, message, response);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(outputs));
    return false;
  } else if (path === `/${restApi.stage}` || path.startsWith(`/${restApi.stage}/`)) {
    const request = await readRequest(message, restApi.stage);
    begin(request.id);
    const result = await restApi.respond(request);
    shown.keyId = result.keyId;
    await send(response, result);
  } else {
    await respondWithPage(path, restApi.stage, message, response);
  }
  return true;
}

async function callControlPlane(
  controlPlane: ControlPlane,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', headers } = message;
  const { authorization } = headers;
  const { body, bodyTooLarge } = await readBody(message);
  const text = bodyTooLarge ? undefined : body.toString();
  const result = await controlPlane({ method, path: requestTarget(message), authorization, body: text });
  response.writeHead(result.status, result.headers).end(result.body);
}

/** In the form of AWS's own APIs, so that SDKs and the AWS CLI show the reason. */
function sendAccessDenied(response: ServerResponse, message: string): void {
  const type = 'AccessDeniedException';
  response
    .writeHead(403, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type })
    .end(JSON.stringify({ __type: type, message }));
}

function wrongName({ socket }: IncomingMessage): string {
  const own = `http://localhost:${socket.localPort}`;
  return (
    `The Host header is missing, or has a name that this host does not answer to. Call it at ${own}, by an IP address ` +
    'or by the name of its machine; npm start -- --host NAME lets it answer to another name.'
  );
}

async function respondWithPage(
  path: string,
  stage: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const baseUrl = `http://${message.headers.host ?? 'localhost'}/${stage}`;
  const file = await findPageFile(path, baseUrl);
  if (!file) {
    sendError(response, 'ROUTE_NOT_FOUND', `There is nothing at this path. The API is at ${baseUrl}.`);
  } else if (message.method === 'GET' || message.method === 'HEAD') {
    sendPageFile(file, response);
  } else {
    response.setHeader('Allow', 'GET, HEAD');
    sendError(response, 'METHOD_NOT_ALLOWED');
  }
}

/** A stream that fails cuts the connection, so that no client takes a part for the whole. */
async function send(response: ServerResponse, { status, headers, body }: StreamedResponse): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (Buffer.isBuffer(body)) return void response.end(body);
  // The head goes out as soon as it is known, however long the first bytes take.
  response.flushHeaders();
  await pipeline(body, response).catch(() => {
    response.destroy();
    // Where the client has left before the answer is there, no one has begun to read the body.
    body.destroy();
  });
}

/** An error with the headers of every answer of the API. */
function errorResponse(code: ErrorCode, message?: string) {
  const { status, body } = new ServiceError(code, message === undefined ? {} : { message });
  const headers = {
    'Content-Type': 'application/json',
    ...unknownLimitHeaders,
    ...corsHeaders,
    ...securityHeaders,
    // The page is at the address that the request came to.
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

/** Answers what is no HTTP request, or one that is too long, and closes the connection. */
function refuseBytes({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const isTooLong = code === 'HPE_HEADER_OVERFLOW';
  const reason = isTooLong ? `has more than ${MAX_HEADER_BYTES} bytes before its body` : 'is not a valid HTTP request';
  const { status, headers, text } = errorResponse('BAD_REQUEST', `This ${reason}.`);
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(text), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}
