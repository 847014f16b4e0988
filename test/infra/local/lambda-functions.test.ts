import { readFileSync, writeFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type FunctionSettings, LambdaFunctions, type Log } from '../../../infra/local/lambda/lambda-functions.ts';
import { bundleFunctions } from '../../../infra/stack/bundle.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { runFunction, streaming, type TestFunction, testFunctions } from './test-functions.ts';

const deploy = testFunctions();
const directory = temporaryDirectory();

const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** A function, and what it has logged. */
function deployLogging(source: string, systemLogLevel: 'INFO' | 'WARN') {
  let log = '';
  const lambda = deploy(source, { systemLogLevel, log: (_, text) => void (log += text) });
  return { lambda, log: () => log };
}

const functionError = (errorType: unknown, errorMessage: unknown): unknown =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

async function invoke(lambda: TestFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

const logging = (name: string) => `const loaded = process.env.NAME;
  exports.handler = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log('${name} runs');
    return [loaded, process.env.NAME, process.env.ONE ?? 'none'];
  };`;

/** Runs functions in one thread. */
function together(settings: readonly FunctionSettings[], log: Log = () => undefined) {
  const functions = new LambdaFunctions(settings, log);
  stops.push(() => functions.stop());
  return [...functions.byArn.values()];
}

test('functions that share a thread have their own variables and logs', async () => {
  const lines: string[] = [];
  const settings = [{ NAME: 'one', ONE: 'set' }, { NAME: 'other' }].map(
    (variables) => deploy(logging(variables.NAME), { functionName: variables.NAME, variables }).settings,
  );
  const lambdas = together(settings, (group, line) => void lines.push(`${group}: ${line}`));
  const [one, other] = await Promise.all(lambdas.map((each) => each.invoke('{}')));

  expect([one, other]).toEqual(['["one","one","set"]', '["other","other","none"]']);
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
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return [calls, underWay--];
    };`;
  const lambda = deploy(source, { timeoutSeconds: 3 });
  await invoke(lambda);
  const results = await Promise.all(Array.from({ length: 200 }, () => invoke(lambda)));

  expect(results[0]).toEqual([51, 50]);
  expect(results.at(-1)).toEqual([201, expect.any(Number)]);
  expect(JSON.stringify(results)).not.toContain(',51]');
});

describe('a function that fails', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new RangeError('too far'); };`, 'RangeError', 'too far'],
    ['throws while it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
  ])('logs why: it %s', async (_, source, errorType, errorMessage) => {
    const { lambda, log } = deployLogging(source, 'WARN');

    await expect(lambda.invoke('{}')).rejects.toEqual(functionError(errorType, errorMessage));
    expect(log()).toContain(`"errorType":"${errorType}"`);
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

  test.each([['exits'], ['fills the memory']])(
    'fails only its own event, and the next runs in a new thread: it %s',
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

const event = (computeMs: number, waitMs: number) => JSON.stringify({ computeMs, waitMs });

describe('A function that outlasts its timeout', () => {
  /** Runs for so long, with the thread for itself or not. */
  const running = `exports.handler = async ({ computeMs, waitMs }) => {
      for (const end = performance.now() + computeMs; performance.now() < end; );
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return 'done';
    };`;
  const timedOut = functionError('Sandbox.Timedout', 'Task timed out');

  /** A function that may run for a second, and another one in its thread, both loaded. */
  async function loadedFunctions() {
    const slow = deploy(running, { functionName: 'slow', timeoutSeconds: 1 }).settings;
    const [limited, other] = together([slow, deploy(running).settings]);
    if (!limited || !other) throw new Error('There are two');
    await Promise.all([limited.invoke(event(0, 0)), other.invoke(event(0, 0))]);
    return { limited, other };
  }

  let notices = '';
  beforeEach(() => {
    notices = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((notices += String(text))));
  });
  afterEach(() => void jest.restoreAllMocks());

  test.each([
    ['computes', event(1_200, 0)],
    ['waits', event(0, 1_200)],
  ])('and %s leaves the others alone', async (_, late) => {
    const { limited, other } = await loadedFunctions();
    const results = await Promise.allSettled([other.invoke(event(0, 2_500)), limited.invoke(late)]);

    expect(results).toMatchObject([{ value: '"done"' }, { reason: timedOut }]);
    expect(notices).toBe('slow timed out after 1 s\n');
  });

  test('and blocks the thread ends with it; later events run in another thread', async () => {
    const { limited, other } = await loadedFunctions();
    const concurrent = other.invoke(event(0, 60_000));
    await expect(limited.invoke(event(60_000, 0))).rejects.toEqual(timedOut);

    await expect(concurrent).rejects.toEqual(
      functionError('Runtime.ExitError', expect.stringContaining('slow timed out after 1 s')),
    );
    expect(await other.invoke(event(0, 0))).toBe('"done"');
    expect(notices).toContain('slow timed out after 1 s and blocks the functions.');
  });

  test('may finish under a debugger', async () => {
    jest.spyOn(inspector, 'url').mockReturnValue('ws://127.0.0.1:9229/');
    const { limited } = await loadedFunctions();

    expect(await limited.invoke(event(0, 1_200))).toBe('"done"');
  });
});

test.each([
  ['INFO', 'a report of each invocation', [true, false]],
  ['WARN', 'no reports', []],
] as const)('the log of a function at level %s has its output and %s', async (systemLogLevel, _, isLoadIn) => {
  const source = `console.log('loaded'); exports.handler = async () => { console.error('failed'); };`;
  const { lambda, log } = deployLogging(source, systemLogLevel);
  for (let count = 0; count < 2; count++) await lambda.invoke('{}');
  await lambda.stop();
  const reports = log().match(/.*platform.report.*/g) ?? [];

  expect(log()).toMatch(/loaded\n[^]*failed\n/);
  expect(reports.map((line) => line.includes('"initDurationMs":'))).toEqual(isLoadIn);
});

test('a slow client slows down only its own response', async () => {
  const steps = `for (let count = 0; count < event.chunks; count++) { await write(Buffer.alloc(100_000)); console.log('taken'); }
    stream.end();`;
  const { lambda, log } = deployLogging(streaming(steps), 'WARN');
  const taken = () => log().match(/taken/g)?.length ?? 0;
  const slow: AsyncIterator<Buffer> = lambda.stream('{"chunks":300}')[Symbol.asyncIterator]();
  await slow.next();
  for (let others = 0; others < 100; others++) await buffer(lambda.stream('{"chunks":1}'));
  const takenMeanwhile = taken() - 100;
  while (!(await slow.next()).done);

  expect(takenMeanwhile).toBeLessThan(50);
  while (taken() < 400) await sleep(10);
});

test('a function is reloaded, and its stack traces name lines of its sources', async () => {
  bundleFunctions(directory, ['authorizer']);
  const codeDirectory = join(directory, 'authorizer');
  const bundle = readFileSync(join(codeDirectory, 'function.cjs'));
  writeFileSync(join(codeDirectory, 'function.cjs'), `exports.handler = async () => 'before';\n`);
  let log = '';
  const lambda = runFunction({ codeDirectory, log: (_, text) => void (log += text) });
  stops.push(() => lambda.stop());
  expect(await invoke(lambda)).toBe('before');
  writeFileSync(join(codeDirectory, 'function.cjs'), bundle);
  lambda.reload();

  // It needs a table.
  await expect(invoke(lambda)).rejects.toThrow('environment variable');
  expect(log).toMatch(/shared\/environment\.ts:\d+:\d+\)\n.*functions\/authorizer\.ts:\d+:\d+\)/);
});
