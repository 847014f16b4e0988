import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { LambdaFunctions } from '../../../infra/local/lambda/lambda-functions.ts';
import { streaming, type TestFunction, testFunctions } from './test-functions.ts';

const deploy = testFunctions();

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

const telling = (name: string) => `const loaded = process.env.NAME;
  exports.handler = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log('${name} runs');
    return [loaded, process.env.NAME, process.env.ONE ?? 'none'];
  };`;

test('Functions that share a thread have their own variables, at any time, and their own logs', async () => {
  const lines: string[] = [];
  const settings = [{ NAME: 'one', ONE: 'set' }, { NAME: 'other' }].map(
    (variables) => deploy(telling(variables.NAME), { functionName: variables.NAME, variables }).settings,
  );
  const functions = new LambdaFunctions(settings, (group, line) => void lines.push(`${group}: ${line}`));
  const [one, other] = await Promise.all(settings.map((each) => functions.byName(each).invoke('{}')));
  await functions.stop();

  expect([one, other]).toEqual(['["one","one","set"]', '["other","other","none"]']);
  expect(lines).toEqual(expect.arrayContaining(['one-logs: one runs\n', 'other-logs: other runs\n']));
});

test('The worker thread runs events side by side, and loads a function once', async () => {
  const lambda = deploy(`let calls = 0; let underWay = 0;
    exports.handler = async () => {
      calls += 1; underWay += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return [calls, underWay];
    };`);

  expect(await Promise.all([invoke(lambda), invoke(lambda)])).toEqual([
    [2, 2],
    [2, 2],
  ]);
});

describe('a function that fails', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new RangeError('too far'); };`, 'RangeError', 'too far'],
    ['throws as it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
  ])('%s: its log says why', async (_, source, errorType, errorMessage) => {
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
      if (what === 'loops') for (;;);
      return calls;
    };`;

  test.each([['exits'], ['fills the memory'], ['loops']])(
    '%s: it fails, and the thread is replaced for the next event',
    async (what) => {
      const lambda = deploy(breaking);
      await invoke(lambda);

      await expect(invoke(lambda, { what })).rejects.toEqual(
        functionError('Runtime.ExitError', expect.stringMatching(/^Runtime exited/)),
      );
      expect(await invoke(lambda)).toBe(1);
    },
  );

  test('by taking longer than its timeout fails alone', async () => {
    const lambda = deploy(
      `exports.handler = ({ wait }) => new Promise((resolve) => setTimeout(resolve, wait, 'late'));`,
      { timeoutSeconds: 0.5 },
    );
    await invoke(lambda, { wait: 0 }).catch(() => undefined);
    const [slow, quick] = await Promise.allSettled([invoke(lambda, { wait: 60_000 }), invoke(lambda, { wait: 0 })]);

    expect(slow).toHaveProperty('reason', functionError('Sandbox.Timedout', 'Task timed out'));
    expect(quick).toHaveProperty('value', 'late');
  });
});

test.each([
  ['INFO', 'what it took, loading included at its first invocation', [true, false]],
  ['WARN', 'nothing else', []],
] as const)('The log of a function at level %s has what it writes, and %s', async (systemLogLevel, _, isLoadIn) => {
  const source = `console.log('loaded'); exports.handler = async () => { console.error('failed'); };`;
  const { lambda, log } = deployLogging(source, systemLogLevel);
  for (let count = 0; count < 2; count++) await lambda.invoke('{}');
  await lambda.stop();
  const reports = log().match(/.*platform.report.*/g) ?? [];

  expect(log()).toMatch(/loaded\n[^]*failed\n/);
  expect(reports.map((line) => line.includes('"initDurationMs":'))).toEqual(isLoadIn);
});

test('A client that reads slowly holds the function back for itself, and for no other', async () => {
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
  expect(taken()).toBe(400);
});
