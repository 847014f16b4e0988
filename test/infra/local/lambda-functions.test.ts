import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { FunctionSettings } from '../../../infra/local/lambda/invocation.ts';
import { LambdaFunctions } from '../../../infra/local/lambda/lambda-functions.ts';
import {
  deployLogging,
  functionError,
  outcomeOf,
  streaming,
  type TestFunction,
  testFunctions,
} from './test-functions.ts';

const deploy = testFunctions();

async function invoke(lambda: TestFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

/** Settings of the function that was deployed, beside others. */
function settingsOf({ codeFolders: [codeFolder = ''] }: TestFunction, variables: { NAME: string }): FunctionSettings {
  const functionName = variables.NAME;
  const ofAll = { handler: 'index.handler', memoryMegabytes: 128, timeoutSeconds: 9, systemLogLevel: 'WARN' } as const;
  return {
    ...ofAll,
    codeFolder,
    functionName,
    functionArn: functionName,
    logGroupName: `${functionName}-logs`,
    variables,
  };
}

test('A function has its context, and its own variables alone', async () => {
  const source = `exports.handler = async (event, context) => ({
    ...context, left: context.getRemainingTimeInMillis(), variables: process.env });`;
  const variables = { TABLE: 'a' };

  expect(await invoke(deploy(source, { functionName: 'stock', memoryMegabytes: 256, variables }))).toMatchObject({
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    functionName: 'stock',
    invokedFunctionArn: expect.stringMatching(/^arn:aws:lambda:us-east-1:0{12}:function:/),
    memoryLimitInMB: '256',
    left: expect.any(Number),
    variables,
  });
});

const answeringLate = (answer: string) => `exports.handler = ({ wait }) => {
  console.log('begun');
  return new Promise((resolve) => setTimeout(resolve, wait, '${answer}'));
};`;

const telling = (name: string) => `const loaded = process.env.NAME;
  exports.handler = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log('${name} runs');
    return [loaded, process.env.NAME, process.env.ONE ?? 'none'];
  };`;

test('Functions that share a thread have their own variables, at any time, and their own logs', async () => {
  const lines: string[] = [];
  const settings = [{ NAME: 'one', ONE: 'set' }, { NAME: 'other' }].map((variables) =>
    settingsOf(deploy(telling(variables.NAME)), variables),
  );
  const functions = new LambdaFunctions(settings, (group, line) => void lines.push(`${group}: ${line}`));
  const [one, other] = await Promise.all(settings.map((each) => functions.byName(each).invoke('{}')));
  await functions.stop();

  expect([one, other]).toEqual(['["one","one","set"]', '["other","other","none"]']);
  expect(lines).toEqual(expect.arrayContaining(['one-logs: one runs\n', 'other-logs: other runs\n']));
});

describe('the worker thread', () => {
  test('runs events side by side, and what is loaded once', async () => {
    const lambda = deploy(`let calls = 0; let underWay = 0;
      exports.handler = async ({ fail }) => {
        calls += 1; underWay += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (fail) throw new Error('no');
        return [calls, underWay];
      };`);
    const failed = invoke(lambda, { fail: true }).catch(() => undefined);

    expect(await Promise.all([invoke(lambda), invoke(lambda)])).toEqual([
      [3, 3],
      [3, 3],
    ]);
    await failed;
  });

  test('that is stopped breaks off what is under way; the next event starts another, with the code as it is then', async () => {
    const { lambda, logs } = deployLogging(deploy, answeringLate('old'));
    const underWay = invoke(lambda, { wait: 60_000 }).catch((error: unknown) => error);
    await logs('begun');
    writeFileSync(join(lambda.codeFolders[0] ?? '', 'index.js'), answeringLate('new'));
    await lambda.stop();

    expect(await underWay).toEqual(functionError('Runtime.ExitError', 'Runtime exited: it was stopped'));
    expect(await invoke(lambda, { wait: 0 })).toBe('new');
  });
});

test('A client that does not read what a function streams holds up no other', async () => {
  const lambda = deploy(
    streaming(`await write('x'); while (!event.isShort) await write(Buffer.alloc(100_000)); stream.end();`),
  );
  const unread = Array.from({ length: 12 }, () => lambda.stream('{}'));
  for (const stream of unread) stream.on('error', () => undefined);

  expect(await text(lambda.stream('{"isShort":true}'))).toBe('x');
});

describe('a function that fails', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new RangeError('too far'); };`, 'RangeError', 'too far'],
    ['throws as it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
  ])('%s: its log says why', async (_, source, errorType, errorMessage) => {
    const { lambda, log } = deployLogging(deploy, source, { systemLogLevel: 'WARN' });

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
    const lambda = deploy(answeringLate('late'), { timeoutSeconds: 0.5 });
    await invoke(lambda, { wait: 0 }).catch(() => undefined);
    const [slow, quick] = await Promise.allSettled([invoke(lambda, { wait: 60_000 }), invoke(lambda, { wait: 0 })]);

    expect(slow).toHaveProperty('reason', functionError('Sandbox.Timedout', 'Task timed out'));
    expect(quick).toHaveProperty('value', 'late');
  });

  test('between two events: the thread is replaced for the next one', async () => {
    const { lambda, logs } = deployLogging(
      deploy,
      `let calls = 0;
       exports.handler = async () => { setTimeout(() => { throw new Error('late'); }, 50); return ++calls; };`,
    );
    expect(await invoke(lambda)).toBe(1);
    await logs('late');
    await sleep(200);

    expect(await invoke(lambda)).toBe(1);
  });
});

test.each([
  ['INFO', 'what it took, loading included at its first invocation', [true, false]],
  ['WARN', 'nothing else', []],
] as const)('The log of a function at level %s has what it writes, and %s', async (systemLogLevel, _, isLoadIn) => {
  const { lambda, log } = deployLogging(
    deploy,
    `console.log('loaded'); exports.handler = async () => { console.error('failed'); };`,
    { systemLogLevel },
  );
  for (let count = 0; count < 2; count++) await lambda.invoke('{}');
  await lambda.stop();
  const reports = log().match(/.*platform.report.*/g) ?? [];

  expect(log()).toMatch(/loaded\n[^]*failed\n/);
  expect(reports.map((line) => line.includes('"initDurationMs":'))).toEqual(isLoadIn);
});

const streamOf = (lambda: TestFunction, event: unknown = {}) => lambda.stream(JSON.stringify(event));

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
  test('holds the function back where it is read slowly', async () => {
    const { lambda, taken, logs } = deployCounting();
    const chunks: AsyncIterator<Buffer> = streamOf(lambda, { chunks: 500, bytes: 100_000 })[Symbol.asyncIterator]();
    await chunks.next();
    await sleep(300);
    const takenMeanwhile = taken();
    while (!(await chunks.next()).done);
    await logs('done.');

    expect(takenMeanwhile).toBeLessThan(250);
    expect(taken()).toBe(500);
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

  test('runs out of its time: it ends, though nobody reads', async () => {
    const lambda = deploy(streaming(`await write(${LONG}); await write(${LONG});`), { timeoutSeconds: 0.5 });
    const { error } = await outcomeOf(streamOf(lambda), new Promise(() => undefined));

    expect(error).toEqual(functionError('Sandbox.Timedout', 'Task timed out'));
  });
});
