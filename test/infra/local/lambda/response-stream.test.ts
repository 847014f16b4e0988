import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { deployLogging, functionError, outcomeOf, streaming, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const streamOf = (lambda: LambdaFunction, event: unknown = {}) => lambda.stream(JSON.stringify(event));

/** Streams `event.chunks` chunks of `event.bytes` bytes and logs the number of each that was taken. */
function deployCounting() {
  const counting = streaming(`
    for (let number = 1; number <= event.chunks; number++) {
      await write(Buffer.alloc(event.bytes, 'x'));
      console.log('taken ' + number + '.');
    }
    stream.end();
    console.log('done.');`);
  const { lambda, log, logs } = deployLogging(deploy, counting);
  return { lambda, logs, taken: () => log().match(/taken \d+\./g)?.length ?? 0 };
}

describe('the response stream of a function', () => {
  test('comes bit by bit, long before the function ends', async () => {
    const lambda = deploy(streaming(`await write('first'); await new Promise(() => {});`));
    const { value } = await streamOf(lambda)[Symbol.asyncIterator]().next();

    expect(String(value)).toBe('first');
  });

  test('holds the function back where it is read slowly', async () => {
    const { lambda, taken, logs } = deployCounting();
    const chunks: AsyncIterator<Buffer> = streamOf(lambda, { chunks: 50, bytes: 100_000 })[Symbol.asyncIterator]();
    await chunks.next();
    await sleep(300);
    const takenMeanwhile = taken();
    while (!(await chunks.next()).done);
    await logs('done.');

    expect(takenMeanwhile).toBeLessThan(10);
    expect(taken()).toBe(50);
  });

  test('lets the function run to its end where nobody reads it any more', async () => {
    const { lambda, taken, logs } = deployCounting();
    const stream = streamOf(lambda, { chunks: 50, bytes: 100_000 });
    await stream[Symbol.asyncIterator]().next();
    stream.destroy();
    await logs('done.');

    expect(taken()).toBe(50);
  });
});

test.each([
  ['throws', `throw new RangeError('no');`, 'RangeError', 'no'],
  ['exits', 'process.exit(3);', 'Runtime.ExitError', expect.stringContaining('exit status 3')],
  ['never ends its stream', '', 'Sandbox.Timedout', 'Task timed out'],
  ['destroys its stream', 'stream.destroy();', 'Error', expect.stringMatching(/premature/i)],
])('A function that %s after it has written: its stream fails', async (_, steps, errorType, errorMessage) => {
  const timeoutSeconds = errorType === 'Sandbox.Timedout' ? 0.3 : 20;
  const lambda = deploy(streaming(`await write('[1,'); ${steps}`), { timeoutSeconds });

  expect(await outcomeOf(streamOf(lambda))).toMatchObject({
    given: expect.stringMatching(/^(\[1,)?$/),
    error: functionError(errorType, errorMessage),
  });
});

describe('while a chunk waits for its reader, a function that', () => {
  /** More than a stream holds that nobody reads. */
  const LONG = 'Buffer.alloc(1_000_000)';

  test('leaves: nothing is missing', async () => {
    const source = streaming(`stream.write(${LONG}); console.log('here.'); stream.end();`);
    const { lambda, logs } = deployLogging(deploy, source);

    expect(await outcomeOf(streamOf(lambda), logs('here.'))).toEqual({
      error: undefined,
      given: '\0'.repeat(1_000_000),
    });
  });

  test('runs out of its time: its place is free at once, though nobody reads', async () => {
    const lambda = deploy(
      streaming(`if (event.next) return stream.end('next'); await write(${LONG}); await write(${LONG});`),
      { timeoutSeconds: 0.5 },
    );
    // More than there may be environments.
    const unread = Array.from({ length: 4 }, () => outcomeOf(streamOf(lambda), new Promise(() => undefined)));

    expect(await text(streamOf(lambda, { next: true }))).toBe('next');
    for (const { error } of await Promise.all(unread))
      expect(error).toEqual(functionError('Sandbox.Timedout', 'Task timed out'));
  });
});
