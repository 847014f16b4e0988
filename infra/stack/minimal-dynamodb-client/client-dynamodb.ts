import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import { DeadlineHandler } from '../../../shared/deadline-handler.ts';
import { Connections } from './connections.ts';

/** The JSON of a response. An error has a type, such as `com.amazonaws.dynamodb.v20120810#ThrottlingException`. */
interface Data {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

export class ConditionalCheckFailedException extends Error {}
export class TransactionCanceledException extends Error {}

/** The exceptions that callers distinguish by their class. */
const classes = new Map(Object.entries({ ConditionalCheckFailedException, TransactionCanceledException }));

/**
 * A DynamoDB client of AWS's signer and HTTP handler, without the SDK's middleware: the protocol (JSON 1.0) is ours. It
 * reads region, endpoint and credentials from the environment variables of the stack's functions, does not retry, and
 * has no binary values. TLS ensures the integrity of responses, without a CRC32 check.
 */
export class DynamoDBClient {
  readonly #endpoint: URL;
  readonly #signer: SignatureV4;
  readonly #connections: Connections;
  readonly #handler: DeadlineHandler;

  constructor({ maxAttempts, requestHandler }: { maxAttempts: number; requestHandler: DeadlineHandler }) {
    if (maxAttempts !== 1) throw new Error('This client does not retry: set maxAttempts to 1');
    const { AWS_REGION: region = '', URL_SUFFIX = '', AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_DYNAMODB } = process.env;
    // As in the SDK: emulators of AWS set the general variable.
    const endpoint = AWS_ENDPOINT_URL_DYNAMODB ?? AWS_ENDPOINT_URL;
    this.#endpoint = new URL(endpoint ?? `https://dynamodb.${region}.${URL_SUFFIX}`);
    this.#signer = new SignatureV4({ service: 'dynamodb', region, sha256: Sha256, credentials: credentials() });
    this.#connections = new Connections(this.#endpoint.protocol);
    const { agent } = this.#connections;
    this.#handler = new DeadlineHandler({ ...requestHandler.options, httpAgent: agent, httpsAgent: agent });
  }

  /**
   * Makes one call.
   *
   * @param read converts the output
   * @throws Error; as in the SDK, with `$fault` for a response, and with `$metadata` if the call may have been sent
   */
  async call(operation: string, input: object, read: (output: Data) => object): Promise<object> {
    const signed = await this.#sign(operation, JSON.stringify(input, refuseBinary));
    try {
      return read(await this.#exchange(signed));
    } catch (error) {
      throw error instanceof Error ? Object.assign(error, { $metadata: {} }) : error;
    }
  }

  async #sign(operation: string, body: string): Promise<HttpRequest> {
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
    return HttpRequest.clone(await this.#signer.sign(new HttpRequest({ ...to, method: 'POST', headers, body })));
  }

  async #exchange(signed: HttpRequest): Promise<Data> {
    this.#connections.closeIdle();
    const { response } = await this.#handler.handle(signed).catch((error: unknown) => {
      this.#connections.closeIdle(0);
      throw error;
    });
    const data = parse(response.body.toString());
    if (response.statusCode !== 200 || !data) throw exceptionOf(response.statusCode, data ?? {});
    return data;
  }
}

function credentials() {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN: sessionToken } = process.env;
  const keys = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return sessionToken === undefined ? keys : { ...keys, sessionToken };
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

function exceptionOf(status: number, data: Data): Error {
  const { __type, Message = `HTTP status ${status}`, message = Message, ...details } = data;
  const name = __type?.replace(/^.*#/, '') ?? 'UnknownError';
  // Without a type it is a proxy's response: the call may have been applied.
  const isRefusal = __type !== undefined && status >= 400 && status < 500;
  const Exception = classes.get(name) ?? Error;
  return Object.assign(new Exception(message), { ...details, name, $fault: isRefusal ? 'client' : 'server' });
}
