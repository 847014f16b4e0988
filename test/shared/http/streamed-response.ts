import { constants, gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  awslambda,
  type ResponsePart,
  ResponseStream,
  streamsResponse,
  type StreamingHandler,
} from '../../../infra/local/lambda/response-stream.ts';
import { lambdaContext } from '../../support/proxy-event.ts';

// Lambda has it there before it loads a function.
Object.assign(globalThis, { awslambda });

/** What a function has streamed. */
export class StreamedResponse {
  statusCode = 0;
  headers: Readonly<Record<string, string>> = {};
  /** The parts of the body, as they came. */
  readonly chunks: Buffer[] = [];
  /** Why the function failed; undefined where it did not. */
  failure: unknown;

  /** The body, decompressed, or what has come of it. */
  get text(): string {
    const body = Buffer.concat(this.chunks);
    const isZipped = this.headers['Content-Encoding'] === 'gzip';
    return (isZipped ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body).toString();
  }

  add(part: ResponsePart): void {
    if (typeof part === 'string') Object.assign(this, JSON.parse(part));
    else this.chunks.push(Buffer.from(part));
  }
}

/** Takes what a function streams, and the next part only then. */
export type Reader = (response: StreamedResponse) => Promise<void> | void;

/** Invokes a function that streams. A failure of it is part of the response: by then it may have begun. */
export async function streamedResponse(
  handler: object,
  event: APIGatewayProxyEvent,
  reader: Reader = () => undefined,
): Promise<StreamedResponse> {
  if (!isStreaming(handler)) throw new Error('The function does not stream');
  const response = new StreamedResponse();
  const stream = new ResponseStream(async (part) => {
    response.add(part);
    if (typeof part !== 'string') await reader(response);
  });
  try {
    await handler(event, stream, lambdaContext);
  } catch (error) {
    response.failure = error;
  }
  return response;
}

const isStreaming = (handler: object): handler is StreamingHandler =>
  typeof handler === 'function' && streamsResponse(handler);
