import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { MAX_PAYLOAD_BYTES, MAX_STREAMED_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { deployLogging } from '../../../support/logging-function.ts';
import { outcomeOf } from '../../../support/stream-outcome.ts';
import { answering, streaming, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const streamOf = (lambda: LambdaFunction, event: unknown = {}) => lambda.stream(JSON.stringify(event));
const delimiter = '\0\0\0\0\0\0\0\0';

const failure = (errorType: unknown, errorMessage: unknown) =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

/** Streams `event.chunks` chunks of `event.bytes` bytes and logs the number of each that was taken. */
const counting = streaming(`
  for (let number = 1; number <= event.chunks; number++) {
    await write(Buffer.alloc(event.bytes, 'x'));
    console.log('taken ' + number + '.');
  }
  stream.end();
  console.log('done.');`);

/** {@link counting} with its log. */
function deployCounting() {
  const { lambda, log, logs } = deployLogging(deploy, counting);
  return { lambda, logs, taken: () => log().match(/taken \d+\./g)?.length ?? 0 };
}

describe('the response stream of a function', () => {
  test('is what it writes, in its order, with the metadata ahead', async () => {
    const lambda = deploy(streaming(`await write('[1,'); await write('2]'); stream.end();`, { statusCode: 201 }));

    expect(await text(streamOf(lambda))).toBe(`{"statusCode":201}${delimiter}[1,2]`);
  });

  test('comes bit by bit, long before the function ends', async () => {
    const lambda = deploy(streaming(`await write('first'); await new Promise(() => {});`));
    const stream = streamOf(lambda);
    const { value } = await stream[Symbol.asyncIterator]().next();

    expect(String(value)).toBe('first');
  });

  test('keeps every byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const lambda = deploy(streaming(`stream.end(Buffer.from('${bytes.toString('base64')}', 'base64'));`));

    expect(await buffer(streamOf(lambda))).toEqual(bytes);
  });

  test('is the result in JSON where the handler does not stream', async () => {
    expect(await text(streamOf(deploy(answering({ a: 1 }))))).toBe('{"a":1}');
  });

  test('goes on where the handler leaves before it has ended', async () => {
    const lambda = deploy(streaming(`setTimeout(() => stream.end('late'), 50); stream.write('early ');`));

    expect(await text(streamOf(lambda))).toBe('early late');
  });

  test('does not mind what the handler returns', async () => {
    expect(await text(streamOf(deploy(streaming(`stream.end('1'); return { ignored: true };`))))).toBe('1');
  });

  test('is as long as Lambda streams, and no longer; the function runs on', async () => {
    const { lambda, logs } = deployCounting();
    const half = MAX_STREAMED_BYTES / 2;
    let bytes = 0;
    for await (const chunk of streamOf(lambda, { chunks: 2, bytes: half })) bytes += Buffer.byteLength(chunk);
    const { error } = await outcomeOf(streamOf(lambda, { chunks: 3, bytes: half }));
    await logs('taken 3.');

    expect(bytes).toBe(MAX_STREAMED_BYTES);
    expect(error).toEqual(failure('Function.ResponseSizeTooLarge', expect.stringContaining('(209715200 bytes)')));
  });

  test('fails for an event that is longer than Lambda takes', async () => {
    const stream = streamOf(deploy(counting), 'x'.repeat(MAX_PAYLOAD_BYTES));

    expect((await outcomeOf(stream)).error).toMatchObject({ name: 'EventTooLargeError' });
  });
});

describe('a streaming function that is invoked for its result', () => {
  test('gives all that it streams', async () => {
    const lambda = deploy(streaming(`await write('[1,'); stream.end('2]');`, { statusCode: 200 }));

    expect(await lambda.invoke('{}')).toBe(`{"statusCode":200}${delimiter}[1,2]`);
  });

  test('may give no more than any other', async () => {
    const lambda = deploy(counting);
    const half = MAX_PAYLOAD_BYTES / 2;

    expect(await lambda.invoke(JSON.stringify({ chunks: 2, bytes: half }))).toHaveLength(MAX_PAYLOAD_BYTES);
    await expect(lambda.invoke(JSON.stringify({ chunks: 3, bytes: half }))).rejects.toEqual(
      failure('Function.ResponseSizeTooLarge', expect.stringContaining('(6291556 bytes)')),
    );
  });

  test('fails as any other', async () => {
    const lambda = deploy(streaming(`await write('1'); throw new RangeError('no');`));

    await expect(lambda.invoke('{}')).rejects.toEqual(failure('RangeError', 'no'));
  });
});

describe('a stream that is read slowly', () => {
  test('holds the function back', async () => {
    const { lambda, taken, logs } = deployCounting();
    const stream = streamOf(lambda, { chunks: 50, bytes: 100_000 });
    const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
    await chunks.next();
    await sleep(300);
    const takenWhileNobodyReads = taken();
    while (!(await chunks.next()).done);
    await logs('done.');

    expect(takenWhileNobodyReads).toBeLessThan(10);
    expect(taken()).toBe(50);
  });

  test('leaves nothing behind, however long it is', async () => {
    const stream = streamOf(deploy(counting), { chunks: 100, bytes: 100_000 });
    let mostListeners = 0;
    for await (const chunk of stream) {
      await new Promise(setImmediate);
      const listeners = stream.eventNames().map((name) => stream.listenerCount(name));
      mostListeners = Math.max(mostListeners, Buffer.byteLength(chunk) > 0 ? Math.max(...listeners) : 0);
    }

    expect(mostListeners).toBeLessThan(5);
  });
});

describe('a stream that nobody reads any more', () => {
  test('lets its function run to its end', async () => {
    const { lambda, taken, logs } = deployCounting();
    const stream = streamOf(lambda, { chunks: 50, bytes: 100_000 });
    await stream[Symbol.asyncIterator]().next();
    stream.destroy();
    await logs('done.');

    expect(taken()).toBe(50);
  });

  test('lets its function run to its end where it was left before the first chunk', async () => {
    const { lambda, taken, logs } = deployCounting();
    streamOf(lambda, { chunks: 50, bytes: 100_000 }).destroy();
    await logs('done.');

    expect(taken()).toBe(50);
  });

  test('hands its environment on to the next event', async () => {
    const lambda = deploy(
      streaming(`await write(event.long ? Buffer.alloc(1_000_000) : '' + require('node:worker_threads').threadId);
        stream.end();`),
    );
    // Twice as many as there may be environments.
    const left = Array.from({ length: 8 }, () => streamOf(lambda, { long: true }));
    await Promise.all(left.slice(0, 4).map((stream) => stream[Symbol.asyncIterator]().next()));
    for (const stream of left) stream.destroy();
    const environments = await Promise.all(Array.from({ length: 8 }, () => text(streamOf(lambda))));

    expect(new Set(environments).size).toBeLessThanOrEqual(4);
  });
});
