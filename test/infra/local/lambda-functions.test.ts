import { readFileSync, writeFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { LambdaFunction } from '../../../infra/local/lambda/lambda-functions.ts';
import { bundleFunctions } from '../../../infra/stack/bundle.ts';
import { stopClock } from '../../support/clocks.ts';
import { recordFaults } from '../../support/request-lines.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { deploy, runFunction, runTogether, streaming } from './test-functions.ts';

const directory = temporaryDirectory();

const functionError = (errorType: unknown, errorMessage: unknown): unknown =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

async function invoke(lambda: Pick<LambdaFunction, 'invoke'>, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

afterEach(() => void jest.useRealTimers());

const logging = (name: string) => `const loaded = process.env.NAME;
  exports.handler = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log('${name} runs');
    return [loaded, process.env.NAME, process.env.ONE ?? 'none'];
  };`;

test('functions that share a thread have their own variables and logs', async () => {
  const lines: string[] = [];
  const settings = [{ NAME: 'one', ONE: 'set' }, { NAME: 'other' }].map(
    (variables) => deploy(logging(variables.NAME), { functionName: variables.NAME, variables }).settings,
  );
  const { byArn } = runTogether(settings, (group, line) => void lines.push(`${group}: ${line}`));
  const results = await Promise.all(Array.from(byArn.values(), (each) => invoke(each)));

  expect(results).toEqual([
    ['one', 'one', 'set'],
    ['other', 'other', 'none'],
  ]);
  expect(lines).toEqual(expect.arrayContaining(['one-logs: one runs\n', 'other-logs: other runs\n']));
});

test('an event whose caller has timed out is never started', async () => {
  const lambda = deploy('let calls = 0; exports.handler = async () => (calls += 1);');
  jest.spyOn(Date, 'now').mockReturnValueOnce(Date.now() - 29_001);

  await expect(invoke(lambda)).rejects.toEqual(functionError('Sandbox.Timedout', 'The event was never started'));
  expect(await invoke(lambda)).toBe(1);
});

test('a worker thread runs 50 events concurrently, and waiting does not count toward the timeout', async () => {
  const source = `let calls = 0; let underWay = 0;
    exports.handler = async () => {
      calls += 1; underWay += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return [calls, underWay--];
    };`;
  // In the thread, time passes.
  stopClock();
  const lambda = deploy(source, { timeoutSeconds: 3 });
  await invoke(lambda);
  let ended = 0;
  const invokeSlowly = async () => {
    const result = await invoke(lambda);
    if ((ended += 1) % 50 === 0) jest.advanceTimersByTime(2_000);
    return result;
  };
  const results = await Promise.all(Array.from({ length: 200 }, invokeSlowly));

  expect(results[0]).toEqual([51, 50]);
  expect(results.at(-1)).toEqual([201, expect.any(Number)]);
  expect(JSON.stringify(results)).not.toContain(',51]');
});

describe('a function that fails', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new RangeError('too far'); };`, 'RangeError', 'too far'],
    ['throws while it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
  ])('and %s logs why', async (_, source, errorType, errorMessage) => {
    const lambda = deploy(source, { systemLogLevel: 'WARN' });

    await expect(invoke(lambda)).rejects.toEqual(functionError(errorType, errorMessage));
    expect(lambda.log()).toContain(`"errorType":"${errorType}"`);
  });

  /** Does what the event says; a fresh thread has seen one event. */
  const breaking = `
    let calls = 0;
    exports.handler = async ({ what }) => {
      calls += 1;
      if (what === 'exits') process.exit(0);
      if (what === 'fills the memory') for (const all = []; ; ) all.push(new Array(1e5).fill(calls));
      return calls;
    };`;

  test.each(['exits', 'fills the memory'])(
    'and %s fails only its own event; the next has a new thread',
    async (what) => {
      const lambda = deploy(breaking);
      await invoke(lambda);

      await expect(invoke(lambda, { what })).rejects.toEqual(
        functionError('Runtime.ExitError', expect.stringMatching(/^Runtime exited/)),
      );
      expect(await invoke(lambda)).toBe(1);
    },
  );
});

describe('A function that outlasts its timeout', () => {
  /** Runs for so long, with the thread for itself or not. */
  const running = `exports.handler = async ({ computeMs = 0, waitMs = 0 }) => {
      for (const end = performance.now() + computeMs; performance.now() < end; );
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return 'done';
    };`;
  const timedOut = functionError('Sandbox.Timedout', 'Task timed out');

  /** A function that may run for a second, and another one in its thread, both loaded. */
  async function loadedFunctions() {
    stopClock();
    const slow = deploy(running, { functionName: 'slow', timeoutSeconds: 1 }).settings;
    const [limited, other] = runTogether([slow, deploy(running).settings]).byArn.values();
    if (!limited || !other) throw new Error('There are two');
    await Promise.all([limited, other].map((each) => invoke(each)));
    return { limited, other };
  }

  const faults = recordFaults();
  const notices = (): string => faults().join('');
  afterEach(() => void jest.restoreAllMocks());

  test.each([
    ['computes', { computeMs: 200 }],
    ['waits', { waitMs: 60_000 }],
  ])('and %s does not affect the others', async (_, late) => {
    const { limited, other } = await loadedFunctions();
    const results = Promise.allSettled([invoke(other, { waitMs: 200 }), invoke(limited, late)]);
    await jest.advanceTimersByTimeAsync(1_000);

    expect(await results).toMatchObject([{ value: 'done' }, { reason: timedOut }]);
    // The thread has responded meanwhile: it is not blocked.
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await invoke(other)).toBe('done');
    expect(notices()).toBe('slow timed out after 1 s\n');
  });

  test('and blocks its thread is stopped with the thread; later events run in another one', async () => {
    const { limited, other } = await loadedFunctions();
    const concurrent = invoke(other, { waitMs: 600_000 });
    const blocking = invoke(limited, { computeMs: 600_000 }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await blocking).toEqual(timedOut);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(concurrent).rejects.toEqual(
      functionError('Runtime.ExitError', expect.stringContaining('slow timed out after 1 s')),
    );
    expect(await invoke(other)).toBe('done');
    expect(notices()).toContain('slow timed out after 1 s and blocks the functions.');
  });

  test('may finish under a debugger', async () => {
    jest.spyOn(inspector, 'url').mockReturnValue('ws://127.0.0.1:9229/');
    const { limited } = await loadedFunctions();

    const late = invoke(limited, { waitMs: 50 });
    await jest.advanceTimersByTimeAsync(1_200);

    expect(await late).toBe('done');
  });
});

test.each([
  ['INFO', 'a report of each invocation', [true, false]],
  ['WARN', 'no reports', []],
] as const)('the log of a function at level %s has its output and %s', async (systemLogLevel, _, isLoadIn) => {
  const source = `console.log('loaded'); exports.handler = async () => { console.error('failed'); };`;
  const lambda = deploy(source, { systemLogLevel });
  for (let count = 0; count < 2; count++) await lambda.invoke('{}');
  await lambda.stop();
  const reports = lambda.log().match(/.*platform.report.*/g) ?? [];

  expect(lambda.log()).toMatch(/loaded\n[^]*failed\n/);
  expect(reports.map((line) => line.includes('"initDurationMs":'))).toEqual(isLoadIn);
});

test('a slow client slows down only its own response', async () => {
  const steps = `for (let count = 0; count < event.chunks; count++) { await write(Buffer.alloc(100_000)); console.log('taken'); }
    stream.end();`;
  const lambda = deploy(streaming(steps), { systemLogLevel: 'WARN' });
  const taken = () => lambda.log().match(/taken/g)?.length ?? 0;
  const slow: AsyncIterator<Buffer> = lambda.stream('{"chunks":300}')[Symbol.asyncIterator]();
  await slow.next();
  for (let others = 0; others < 100; others++) await buffer(lambda.stream('{"chunks":1}'));
  const takenMeanwhile = taken() - 100;
  while (!(await slow.next()).done);

  expect(takenMeanwhile).toBeLessThan(50);
  await until('all chunks are taken', () => taken() === 400);
});

test('a function is reloaded, and its stack traces name lines of its sources', async () => {
  bundleFunctions(directory, ['authorizer']);
  const codeDirectory = join(directory, 'authorizer');
  const file = join(codeDirectory, 'function.cjs');
  const bundle = readFileSync(file);
  writeFileSync(file, `exports.handler = async () => 'before';\n`);
  const lambda = runFunction(codeDirectory);
  expect(await invoke(lambda)).toBe('before');
  writeFileSync(file, bundle);
  lambda.reload();

  // It needs a table.
  await expect(invoke(lambda)).rejects.toThrow('environment variable');
  expect(lambda.log()).toMatch(/shared\/environment\.ts:\d+:\d+\)\n.*functions\/authorizer\.ts:\d+:\d+\)/);
});
