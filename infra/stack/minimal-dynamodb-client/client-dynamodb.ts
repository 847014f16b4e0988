import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb/dist-es/models/errors.js';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb/dist-es/models/DynamoDBServiceException.js';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { Connections } from './connections.ts';

export { ConditionalCheckFailedException, DynamoDBServiceException, TransactionCanceledException };

/** The base of a command of `@aws-sdk/lib-dynamodb`. */
const commandOf = (operation: string) =>
  class {
    readonly operation = operation;
  };

export const BatchGetItemCommand = commandOf('BatchGetItem');
export const GetItemCommand = commandOf('GetItem');
export const QueryCommand = commandOf('Query');
export const UpdateItemCommand = commandOf('UpdateItem');
export const TransactWriteItemsCommand = commandOf('TransactWriteItems');

/** The JSON of a response. An error has a type, such as `com.amazonaws.dynamodb.v20120810#ThrottlingException`. */
interface Data {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

/** The exceptions with details beyond a name. */
const modeled = new Map(Object.entries({ ConditionalCheckFailedException, TransactionCanceledException }));

/**
 * A DynamoDB client of AWS's signer, HTTP handler and exceptions, without the SDK's middleware: only the protocol (JSON
 * 1.0) is ours. It reads region, endpoint and credentials from the environment variables of the stack's functions,
 * does not retry, and has no binary values. TLS ensures the integrity of responses, without a CRC32 check.
 */
export class DynamoDBClient {
  readonly #endpoint: URL;
  readonly #signer: SignatureV4;
  readonly #connections: Connections;
  readonly #handler: NodeHttpHandler;

  constructor({ maxAttempts, requestHandler }: { maxAttempts: number; requestHandler: NodeHttpHandlerOptions }) {
    if (maxAttempts !== 1) throw new Error('This client does not retry: set maxAttempts to 1');
    const { AWS_REGION: region = '', URL_SUFFIX = '', AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_DYNAMODB } = process.env;
    // As in the SDK: emulators of AWS set the general variable.
    const endpoint = AWS_ENDPOINT_URL_DYNAMODB ?? AWS_ENDPOINT_URL;
    this.#endpoint = new URL(endpoint ?? `https://dynamodb.${region}.${URL_SUFFIX}`);
    this.#signer = new SignatureV4({ service: 'dynamodb', region, sha256: Sha256, credentials: fromEnv() });
    this.#connections = new Connections(this.#endpoint.protocol);
    const { agent } = this.#connections;
    this.#handler = new NodeHttpHandler({ ...requestHandler, httpAgent: agent, httpsAgent: agent });
  }

  /** Makes one call. @throws DynamoDBServiceException, or the error of the connection */
  async call(operation: string, input: object): Promise<Data> {
    const body = JSON.stringify(input, refuseBinary);
    const { protocol, hostname, host, port, pathname: path } = this.#endpoint;
    const { _X_AMZN_TRACE_ID: trace } = process.env;
    const headers = {
      host,
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(Buffer.byteLength(body)),
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      ...(trace !== undefined && { 'x-amzn-trace-id': trace }),
    };
    const to = { protocol, hostname, path, ...(port !== '' && { port: Number(port) }) };
    const signed = await this.#signer.sign(new HttpRequest({ ...to, method: 'POST', headers, body }));
    this.#connections.closeIdle();
    const { response } = await this.#handler.handle(HttpRequest.clone(signed)).catch((error: unknown) => {
      this.#connections.closeIdle(0);
      throw error;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    const data = parse(Buffer.concat(chunks).toString());
    if (response.statusCode !== 200 || !data) throw exceptionOf(response.statusCode, data);
    return data;
  }
}

function refuseBinary(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  if (ArrayBuffer.isView(this[name])) throw new TypeError('The bundles of the functions have no binary values');
  return value;
}

/** The JSON of a response; undefined for a proxy's response in another format. */
function parse(text: string): Data | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function exceptionOf(status: number, data: Data = {}) {
  const { __type = 'UnknownError', Message = `HTTP status ${status}`, message = Message, ...rest } = data;
  const name = __type.replace(/^.*#/, '');
  const options = { ...rest, message, $metadata: { httpStatusCode: status } };
  // An error without a reason may have been applied.
  const $fault = status >= 400 && status < 500 ? 'client' : 'server';
  const Modeled = modeled.get(name);
  const exception = Modeled ? new Modeled(options) : new DynamoDBServiceException({ ...options, name, $fault });
  return Object.assign(exception, { $response: { statusCode: status } });
}
