import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { awslambda, DELIMITER, isStreaming, ResponseStream } from '../../../../infra/local/lambda/response-stream.ts';

/** A response stream whose chunks a test takes one by one. */
class Chunks {
  readonly sent: string[] = [];
  readonly stream = new ResponseStream((chunk) => {
    this.sent.push(Buffer.from(chunk).toString());
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#taken = resolve;
    return promise;
  });
  #taken: () => void = () => undefined;

  /** Takes the last chunk; what comes next is sent by the end of it. */
  async take(): Promise<void> {
    this.#taken();
    await new Promise(setImmediate);
  }
}

const metadata = { statusCode: 200, headers: { 'X-Id': 'ä' } };
const head = `${JSON.stringify(metadata)}\0\0\0\0\0\0\0\0`;

test('The delimiter is eight NUL bytes', () => {
  expect(DELIMITER).toEqual(Buffer.from([0, 0, 0, 0, 0, 0, 0, 0]));
});

describe('what a handler writes', () => {
  test('goes out after the metadata of the response and the delimiter', () => {
    const { stream, sent } = new Chunks();
    awslambda.HttpResponseStream.from(stream, metadata).write('[1,');

    expect(sent).toEqual([`${head}[1,`]);
  });

  test('may be nothing at first, so that the metadata goes out at once', () => {
    const { stream, sent } = new Chunks();
    awslambda.HttpResponseStream.from(stream, metadata).write('');

    expect(sent).toEqual([head]);
  });

  test('goes out as it is without metadata', () => {
    const { stream, sent } = new Chunks();
    stream.write('[1,');

    expect(sent).toEqual(['[1,']);
  });

  test('goes out once the chunk before it has been taken, in its order', async () => {
    const chunks = new Chunks();
    const stream = awslambda.HttpResponseStream.from(chunks.stream, metadata);
    for (const text of ['1', '2', '3']) stream.write(text);
    const before = [...chunks.sent];
    await chunks.take();
    await chunks.take();

    expect(before).toEqual([`${head}1`]);
    expect(chunks.sent).toEqual([`${head}1`, '2', '3']);
  });

  test('is as much as the handler should write before it waits, and then the stream asks for more', async () => {
    const chunks = new Chunks();
    const wantsMore = chunks.stream.write('x'.repeat(1_000_000));
    const drained = once(chunks.stream, 'drain');
    await chunks.take();

    expect(wantsMore).toBe(false);
    await expect(drained).resolves.toEqual([]);
  });

  test('has ended once all of it has been taken', async () => {
    const chunks = new Chunks();
    chunks.stream.end('1');
    await new Promise(setImmediate);
    const before = chunks.stream.writableFinished;
    await chunks.take();

    expect(before).toBe(false);
    expect(chunks.stream.writableFinished).toBe(true);
  });

  test('is not sent any more once the stream is destroyed', async () => {
    const chunks = new Chunks();
    for (const text of ['1', '2']) chunks.stream.write(text);
    chunks.stream.destroy();
    await chunks.take();

    expect(chunks.sent).toEqual(['1']);
  });
});

describe('the metadata', () => {
  test('is never sent without a body, not even an empty one: the runtime of Lambda has it so', async () => {
    const chunks = new Chunks();
    awslambda.HttpResponseStream.from(chunks.stream, metadata).end();
    await chunks.take();

    expect(chunks.sent).toEqual([]);
  });

  test('is refused once the response has begun', () => {
    const { stream } = new Chunks();
    stream.write('1');

    expect(() => awslambda.HttpResponseStream.from(stream, metadata)).toThrow(
      'Cannot set metadata: the response has begun.',
    );
  });
});

test('A handler streams where it was made by awslambda.streamifyResponse', () => {
  expect(isStreaming(async () => undefined)).toBe(false);
  expect(isStreaming(awslambda.streamifyResponse(async () => undefined))).toBe(true);
});
