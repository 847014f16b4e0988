import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { ExecutionEnvironment } from '../../../infra/local/lambda/execution-environment.ts';
import type { LambdaFunction } from '../../../infra/local/lambda/lambda-function.ts';
import { deployLogging, functionError, outcomeOf, streaming, testFunctions } from '../../support/test-functions.ts';

const deploy = testFunctions();

async function invoke(lambda: LambdaFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

const sixTimes = (lambda: LambdaFunction) => Promise.all(Array.from({ length: 6 }, () => invoke(lambda)));

test('A function has its context, the variables that Lambda sets and its own, and none of this machine', async () => {
  const source = `exports.handler = async (event, context) => ({
    ...context, left: context.getRemainingTimeInMillis(), variables: process.env });`;
  process.env['AWS_PROFILE'] ??= 'of the machine';
  const settings = {
    functionName: 'stock',
    memoryMegabytes: 256,
    timeoutSeconds: 9,
    variables: { TABLE: 'a', ONE: '1' },
  };
  const [one, other] = await Promise.all([
    invoke(deploy(source, settings)),
    invoke(deploy(source, { variables: { TABLE: 'b' } })),
  ]);

  expect(one).toMatchObject({
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    functionName: 'stock',
    invokedFunctionArn: expect.stringMatching(/^arn:aws:lambda:us-east-1:0{12}:function:/),
    memoryLimitInMB: '256',
    left: expect.any(Number),
    variables: {
      TABLE: 'a',
      ONE: '1',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_LAMBDA_FUNCTION_NAME: 'stock',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    },
  });
  expect(other).toHaveProperty('variables.TABLE', 'b');
  for (const name of ['PATH', 'HOME', 'AWS_PROFILE', 'ONE']) expect(other).not.toHaveProperty(['variables', name]);
});

const answeringLate = (answer: string) => `exports.handler = ({ wait }) => {
  console.log('begun');
  return new Promise((resolve) => setTimeout(resolve, wait, '${answer}'));
};`;

describe('execution environments', () => {
  test('run code that was replaced from the next event on, and finish what is under way', async () => {
    const { lambda, logs } = deployLogging(deploy, answeringLate('old'));
    const underWay = invoke(lambda, { wait: 100 });
    await logs('begun');
    writeFileSync(join(lambda.codeFolder, 'index.js'), answeringLate('new'));
    lambda.renew();

    expect(await Promise.all([underWay, invoke(lambda, { wait: 0 })])).toEqual(['old', 'new']);
    expect(await invoke(lambda, { wait: 0 })).toBe('new');
  });

  test('run event after event, failed ones too, and end when they have had nothing to do for a while', async () => {
    const source = `let calls = 0;
      exports.handler = async ({ fail }) => { calls += 1; if (fail) throw new Error('no'); return calls; };`;
    const lambda = deploy(source, { idleMs: 200 });
    await invoke(lambda);
    await invoke(lambda, { fail: true }).catch(() => undefined);

    expect(await invoke(lambda)).toBe(3);
    await sleep(600);
    expect(await invoke(lambda)).toBe(1);
  });

  test('take one event at a time; a function that is busy has three, and several have six together', async () => {
    const source = `
      let underWay = 0;
      exports.handler = async () => {
        const isAlone = ++underWay === 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
        underWay -= 1;
        return isAlone && require('node:worker_threads').threadId;
      };`;
    const environments = new Set<ExecutionEnvironment>();
    const functions = Array.from({ length: 4 }, () => deploy(source, { environments }));
    const [first] = functions;
    const useAll = async () => (await Promise.all(functions.map(sixTimes))).flat();
    const ofOne = first ? await sixTimes(first) : [];
    // What starts at the same moment may be more; it ends with its event.
    const atFirst = await useAll();
    const again = await useAll();

    expect(new Set(ofOne).size).toBe(3);
    expect(new Set(again).size).toBe(6);
    expect([...ofOne, ...atFirst, ...again]).not.toContain(false);
  });

  test('break off what is under way when they are closed', async () => {
    const { lambda, logs } = deployLogging(
      deploy,
      `exports.handler = () => { console.log('here.'); return new Promise((resolve) => setTimeout(resolve, 60_000)); };`,
    );
    const underWay = lambda.invoke('{}').catch((error: unknown) => error);
    await logs('here.');
    await lambda.close();

    expect(await underWay).toEqual(functionError('Runtime.ExitError', expect.any(String)));
  });
});

test('A client that does not read what a function streams leaves room for another, whose list is answered', async () => {
  const lambda = deploy(
    streaming(`await write('x'); while (!event.isShort) await write(Buffer.alloc(100_000)); stream.end();`),
  );
  const unread = Array.from({ length: 12 }, () => lambda.stream('{}', 'one'));
  for (const stream of unread) stream.on('error', () => undefined);

  expect(await text(lambda.stream('{"isShort":true}', 'other'))).toBe('x');
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

  /** Does what the event says; a fresh environment has seen one event. */
  const breaking = `
    let calls = 0;
    exports.handler = async ({ what }) => {
      calls += 1;
      if (what === 'exits') process.exit(0);
      if (what === 'fills the memory') for (const all = []; ; ) all.push(new Array(1e5).fill(calls));
      if (what === 'loops') for (;;);
      return calls;
    };`;

  test.each([
    ['exits', 'Runtime.ExitError', 'exit status 0'],
    ['fills the memory', 'Runtime.ExitError', 'memory'],
    ['loops', 'Sandbox.Timedout', 'Task timed out'],
  ])('%s: its execution environment is replaced for the next event', async (what, errorType, reason) => {
    const timeoutSeconds = errorType === 'Sandbox.Timedout' ? 0.3 : 20;
    const lambda = deploy(breaking, { memoryMegabytes: 32, timeoutSeconds });
    await invoke(lambda);

    await expect(invoke(lambda, { what })).rejects.toEqual(functionError(errorType, expect.stringContaining(reason)));
    expect(await invoke(lambda)).toBe(1);
  });

  test('between two events: its execution environment is replaced for the next one', async () => {
    const { lambda, logs } = deployLogging(
      deploy,
      `let calls = 0;
       exports.handler = async () => { setTimeout(() => { throw new Error('late'); }, 50); return ++calls; };`,
    );
    expect(await invoke(lambda)).toBe(1);
    await logs('late');

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
  await lambda.close();
  const reports = log().match(/.*platform.report.*/g) ?? [];

  expect(log()).toMatch(/loaded\n[^]*failed\n/);
  expect(reports.map((line) => line.includes('"initDurationMs":'))).toEqual(isLoadIn);
});

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
