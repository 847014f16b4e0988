import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { deployLogging } from '../../../support/logging-function.ts';
import { outcomeOf } from '../../../support/stream-outcome.ts';
import { streaming, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const streamOf = (lambda: LambdaFunction, event: unknown = {}) => lambda.stream(JSON.stringify(event));

const failure = (errorType: unknown, errorMessage: unknown) =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

/** More than a stream holds that nobody reads. */
const LONG = 'Buffer.alloc(1_000_000)';

/** How a streaming function fails: what it does, the type of the error, and what it says. */
const faults: readonly [what: string, steps: string, errorType: string, errorMessage: unknown][] = [
  ['throws', `throw new RangeError('no');`, 'RangeError', 'no'],
  ['exits', 'process.exit(3);', 'Runtime.ExitError', expect.stringContaining('exit status 3')],
  [
    'throws in a timer',
    `setTimeout(() => { throw new Error('late'); }); await new Promise(() => {});`,
    'Runtime.ExitError',
    expect.stringContaining('late'),
  ],
  ['runs out of its time', 'await new Promise(() => {});', 'Sandbox.Timedout', 'Task timed out'],
  ['never ends its stream', '', 'Sandbox.Timedout', 'Task timed out'],
  [
    'has the source of its stream fail',
    `const source = async function* () { yield 'x'; throw new TypeError('no source'); };
     await require('node:stream/promises').pipeline(require('node:stream').Readable.from(source()), stream);`,
    'TypeError',
    'no source',
  ],
  ['destroys its stream', 'stream.destroy();', 'Error', expect.stringMatching(/premature/i)],
];

/** Little time for those that take all that they get. */
const patience = (errorType: string) => ({ timeoutSeconds: errorType === 'Sandbox.Timedout' ? 0.3 : 20 });

describe('a streaming function that', () => {
  test.each(faults)('%s before it has written: its stream fails', async (_, steps, errorType, errorMessage) => {
    const lambda = deploy(streaming(steps), patience(errorType));

    expect((await outcomeOf(streamOf(lambda))).error).toEqual(failure(errorType, errorMessage));
  });

  test.each(faults)('%s after it has written: its stream fails', async (_, steps, errorType, errorMessage) => {
    const lambda = deploy(streaming(`await write('[1,'); ${steps}`), patience(errorType));

    expect(await outcomeOf(streamOf(lambda))).toMatchObject({
      given: expect.stringMatching(/^(\[1,x?)?$/),
      error: failure(errorType, errorMessage),
    });
  });

  test.each(faults)('%s is not in the way of the next event', async (_, steps, errorType) => {
    const source = streaming(`if (event.next) return stream.end('next'); await write('[1,'); ${steps}`);
    const lambda = deploy(source, patience(errorType));
    await outcomeOf(streamOf(lambda));

    expect(await text(streamOf(lambda, { next: true }))).toBe('next');
  });

  test('is not async fails: the runtime of Lambda has it so', async () => {
    const lambda = deploy(`exports.handler = awslambda.streamifyResponse((event, stream) => { stream.end('1'); });`);

    expect((await outcomeOf(streamOf(lambda))).error).toEqual(
      failure('TypeError', 'Streaming does not support non-async handlers.'),
    );
  });

  test('fails leaves nothing of its stream to the next event', async () => {
    const lambda = deploy(
      streaming(`if (event.next) return stream.end('next');
        for (let chunk = 0; chunk < 5; chunk++) stream.write('left over');
        throw new Error('no');`),
    );
    await outcomeOf(streamOf(lambda));

    expect(await text(streamOf(lambda, { next: true }))).toBe('next');
  });

  test('fails logs why', async () => {
    let log = '';
    const lambda = deploy(streaming(`await write('1'); throw new Error('what went wrong');`), {
      log: (line) => (log += line),
    });
    await outcomeOf(streamOf(lambda));
    await lambda.close();

    expect(log).toContain('what went wrong');
  });

  test('is closed fails', async () => {
    const lambda = deploy(streaming(`await write('1'); await new Promise(() => {});`));
    const stream = streamOf(lambda);
    await stream[Symbol.asyncIterator]().next();
    const outcome = outcomeOf(stream);
    await lambda.close();

    expect((await outcome).error).toEqual(failure('Runtime.ExitError', expect.any(String)));
  });
});

/** What becomes of a stream that is read only once the function has come to these steps, after a long first chunk. */
async function readLate(steps: string) {
  const source = streaming(`stream.write(${LONG}); console.log('here.'); ${steps}`);
  const { lambda, logs } = deployLogging(deploy, source);
  return outcomeOf(streamOf(lambda), Promise.all([logs('here.'), sleep(200)]));
}

describe('while a chunk waits for its reader, a function that', () => {
  test.each([
    ['throws', `throw new Error('no');`, 'Error', 'no'],
    ['exits', 'process.exit(3);', 'Runtime.ExitError', expect.stringContaining('exit status 3')],
    [
      'has the source of its stream fail',
      `stream.destroy(new TypeError('no source')); await require('node:events').once(stream, 'close');`,
      'TypeError',
      'no source',
    ],
  ])('%s: its stream fails', async (_, steps, errorType, errorMessage) => {
    expect((await readLate(steps)).error).toEqual(failure(errorType, errorMessage));
  });

  test('leaves: nothing is missing', async () => {
    expect(await readLate('stream.end();')).toEqual({ error: undefined, given: '\0'.repeat(1_000_000) });
  });

  test('runs out of its time: its place is free at once, though nobody reads', async () => {
    const lambda = deploy(
      streaming(`if (event.next) return stream.end('next'); await write(${LONG}); await write(${LONG});`),
      { timeoutSeconds: 0.5 },
    );
    // As many as there may be environments.
    const unread = Array.from({ length: 4 }, () => outcomeOf(streamOf(lambda), new Promise(() => undefined)));

    expect(await text(streamOf(lambda, { next: true }))).toBe('next');
    for (const { error } of await Promise.all(unread))
      expect(error).toEqual(failure('Sandbox.Timedout', 'Task timed out'));
  });
});
