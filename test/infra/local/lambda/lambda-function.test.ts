import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { EnvironmentPool } from '../../../../infra/local/lambda/environment-pool.ts';
import { MAX_PAYLOAD_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { reportLine } from '../../../../infra/local/lambda/report-line.ts';
import { parseReportLine } from '../../../support/parsed-report-line.ts';
import { deployLogging, streaming, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

async function invoke(lambda: LambdaFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

const failure = (errorType: unknown, errorMessage: unknown) =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

describe('a function', () => {
  test('is told which function it is and how long it has left', async () => {
    const source = `exports.handler = async (event, context) => ({
      ...context, left: context.getRemainingTimeInMillis() });`;
    const lambda = deploy(source, { functionName: 'stock', memoryMegabytes: 256, timeoutSeconds: 9 });

    expect(await invoke(lambda)).toMatchObject({
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      functionName: 'stock',
      invokedFunctionArn: expect.stringMatching(/^arn:aws:lambda:us-east-1:0{12}:function:/),
      memoryLimitInMB: '256',
      left: expect.any(Number),
    });
  });

  test('has environment variables of its own, those that Lambda sets, and none of this machine', async () => {
    const source = 'exports.handler = async () => process.env;';
    process.env['AWS_PROFILE'] ??= 'of the machine';
    const [one, other] = await Promise.all([
      invoke(deploy(source, { variables: { TABLE: 'a', ONE: '1' }, functionName: 'stock' })),
      invoke(deploy(source, { variables: { TABLE: 'b' } })),
    ]);

    expect(one).toMatchObject({
      TABLE: 'a',
      ONE: '1',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_LAMBDA_FUNCTION_NAME: 'stock',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    });
    expect(other).toHaveProperty('TABLE', 'b');
    for (const name of ['PATH', 'HOME', 'AWS_PROFILE', 'ONE']) expect(other).not.toHaveProperty(name);
  });

  test('has its environment for event after event, whether it fails or not', async () => {
    const lambda = deploy(`let calls = 0;
      exports.handler = async ({ fail }) => { calls += 1; if (fail) throw new Error('no'); return calls; };`);
    await invoke(lambda);
    await invoke(lambda, { fail: true }).catch(() => undefined);

    expect(await invoke(lambda)).toBe(3);
  });

  test('takes one event at a time in an environment; more events at once get up to three environments', async () => {
    const lambda = deploy(`
      let underWay = 0;
      exports.handler = async () => {
        const alone = ++underWay === 1;
        await new Promise((resolve) => setTimeout(resolve, 300));
        underWay -= 1;
        return { alone, environment: require('node:worker_threads').threadId };
      };`);
    const busyResult = v.object({ alone: v.literal(true), environment: v.number() });
    const results = await Promise.all(Array.from({ length: 4 }, async () => v.parse(busyResult, await invoke(lambda))));

    expect(new Set(results.map(({ environment }) => environment)).size).toBe(3);
  });

  test('breaks off what is under way when it is closed', async () => {
    const lambda = deploy('exports.handler = () => new Promise((resolve) => setTimeout(resolve, 60_000));');
    const underWay = lambda.invoke('{}').catch((error: unknown) => error);
    await sleep(300);
    await lambda.close();

    expect(await underWay).toEqual(failure('Runtime.ExitError', expect.any(String)));
  });
});

describe('execution environments', () => {
  test('end when they have had nothing to do for a while; the next event gets a new one', async () => {
    const lambda = deploy('let calls = 0; exports.handler = async () => ++calls;', { pool: new EnvironmentPool(200) });
    const calls = [await invoke(lambda), await invoke(lambda)];
    await sleep(600);

    expect([...calls, await invoke(lambda)]).toEqual([1, 2, 1]);
  });

  test('of several functions that are busy are six together', async () => {
    const source = `exports.handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return require('node:worker_threads').threadId; };`;
    const pool = new EnvironmentPool();
    const functions = Array.from({ length: 4 }, () => deploy(source, { pool }));
    const useAll = () =>
      Promise.all(functions.map((lambda) => Promise.all(Array.from({ length: 6 }, () => invoke(lambda)))));
    // What starts at the same moment may be more; it ends with its event.
    await useAll();
    const again = await useAll();

    expect(new Set(again.flat()).size).toBe(6);
  });
});

describe('a function that streams', () => {
  /** Without end, unless the event says that it is short. */
  const endless = streaming(`
    await write('x');
    while (!event.isShort) await write(Buffer.alloc(100_000));
    stream.end();`);

  test('answers others while many of its responses are not read, of which it cuts off those beyond eight', async () => {
    const { lambda, log } = deployLogging(deploy, endless);
    const unread = Array.from({ length: 12 }, () => lambda.stream('{}', 'one'));
    for (const stream of unread) stream.on('error', () => undefined);
    const cutOff = (): number => unread.filter(({ destroyed }) => destroyed).length;

    expect(await text(lambda.stream('{"isShort":true}', 'other'))).toBe('x');
    while (cutOff() < 4) await sleep(20);
    expect(await text(lambda.stream('{"isShort":true}', 'one'))).toBe('x');
    expect(cutOff()).toBe(4);
    expect(log().match(/"errorType":"Host.ReaderStalled"/g)).toHaveLength(4);
  });

  test('goes on where a reader comes back after a while', async () => {
    const lambda = deploy(
      streaming('for (let part = 0; part < 9; part++) await write("x".repeat(50_000)); stream.end();'),
    );
    const stream = lambda.stream('{}');
    await sleep(400);

    expect(await text(stream)).toHaveLength(450_000);
  });

  test('runs at most two events of one client at once', async () => {
    const lambda = deploy(streaming('const at = Date.now(); await sleep(300); stream.end(`${at} ${Date.now()}`);'));
    const runs = await Promise.all(
      Array.from({ length: 4 }, async () => (await text(lambda.stream('{}', 'one'))).split(' ').map(Number)),
    );
    const mostAtOnce = Math.max(
      ...runs.map(([at = 0]) => runs.filter(([start = 0, end = 0]) => start <= at && at < end).length),
    );

    expect(mostAtOnce).toBe(2);
  });
});

test('An event or a result that is too long is refused', async () => {
  const lambda = deploy(`exports.handler = async () => 'x'.repeat(${MAX_PAYLOAD_BYTES});`);
  const reason = 'Response payload size exceeded maximum allowed payload size (6291556 bytes).';

  await expect(lambda.invoke(JSON.stringify('x'.repeat(MAX_PAYLOAD_BYTES - 1)))).rejects.toMatchObject({
    name: 'EventTooLargeError',
  });
  await expect(invoke(lambda)).rejects.toEqual(failure('Function.ResponseSizeTooLarge', reason));
});

describe('a function that fails', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new RangeError('too far'); };`, 'RangeError', 'too far'],
    ['throws text', `exports.handler = async () => { throw 'Unauthorized'; };`, 'string', 'Unauthorized'],
    ['throws as it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
    ['exits as it is loaded', `process.exit(3)`, 'Runtime.ExitError', expect.stringContaining('exit status 3')],
  ])('%s: its log says why', async (_, source, errorType, errorMessage) => {
    const { lambda, log } = deployLogging(deploy, source);

    await expect(lambda.invoke('{}')).rejects.toEqual(failure(errorType, errorMessage));
    const reports = log()
      .split('\n')
      .flatMap((line) => parseReportLine(line) ?? []);
    expect(reports).toMatchObject([{ status: 'error', errorType }]);
  });

  test('to load is loaded anew for the next event', async () => {
    const lambda = deploy(`
      const { existsSync, writeFileSync } = require('node:fs');
      const marker = __dirname + '/loaded-before';
      if (!existsSync(marker)) { writeFileSync(marker, ''); throw new Error('first'); }
      exports.handler = async () => 'loaded';`);

    await expect(lambda.invoke('{}')).rejects.toEqual(failure('Error', 'first'));
    expect(await invoke(lambda)).toBe('loaded');
  });
});

/** Does what the event says; a fresh environment has seen one event. */
const breaking = `
  let calls = 0;
  exports.handler = async ({ what }) => {
    calls += 1;
    if (what === 'exits') process.exit(0);
    if (what === 'throws in a timer') await new Promise(() => setTimeout(() => { throw new Error('late'); }));
    if (what === 'fills the memory') for (const all = []; ; ) all.push(new Array(1e5).fill(calls));
    if (what === 'loops') for (;;);
    return calls;
  };`;

test.each([
  ['exits', 'Runtime.ExitError', 'exit status 0'],
  ['throws in a timer', 'Runtime.ExitError', 'late'],
  ['fills the memory', 'Runtime.ExitError', 'memory'],
  ['loops', 'Sandbox.Timedout', 'Task timed out'],
])('An execution environment that %s is replaced for the next event', async (what, errorType, reason) => {
  const timeoutSeconds = errorType === 'Sandbox.Timedout' ? 0.3 : 20;
  const lambda = deploy(breaking, { memoryMegabytes: 32, timeoutSeconds });
  await invoke(lambda);

  await expect(invoke(lambda, { what })).rejects.toEqual(failure(errorType, expect.stringContaining(reason)));
  expect(await invoke(lambda)).toBe(1);
});

test('An execution environment that breaks between two events is replaced for the next one', async () => {
  const { lambda, logs } = deployLogging(
    deploy,
    `let calls = 0;
     exports.handler = async () => { setTimeout(() => { throw new Error('late'); }, 50); return ++calls; };`,
  );
  expect(await invoke(lambda)).toBe(1);
  await logs('late');

  expect(await invoke(lambda)).toBe(1);
});

describe('the log of a function', () => {
  test('has what it writes, and the time that it took to load at its first invocation', async () => {
    const { lambda, log } = deployLogging(
      deploy,
      `console.log('loaded'); exports.handler = async () => { console.error('failed'); };`,
    );
    for (let count = 0; count < 2; count++) await lambda.invoke('{}');
    await lambda.close();

    expect(log()).toMatch(/loaded\n[^]*failed\n/);
    expect(log().match(/.*platform.report.*/g)).toEqual([
      expect.stringContaining('"initDurationMs":'),
      expect.not.stringContaining('"initDurationMs":'),
    ]);
  });

  test('has only what the function writes, and what failed, where Lambda is to warn only', async () => {
    const { lambda, log } = deployLogging(deploy, breaking, { systemLogLevel: 'WARN' });
    await lambda.invoke('{}');
    expect(log()).toBe('');

    await expect(lambda.invoke('{"what":"exits"}')).rejects.toThrow('Runtime.ExitError');
    expect(log().match(/.*platform.report.*/g)).toEqual([expect.stringContaining('"status":"error"')]);
  });

  test('has a line that reads as that of Lambda', () => {
    const report = {
      requestId: '9268b414-8984-4f0b-9f04-13dadc62b51d',
      endedAt: Date.parse('2026-11-21T12:00:00.250Z'),
      durationMs: 12.345678,
      initMs: undefined,
      memoryMegabytes: 1_024,
      errorType: 'Sandbox.Timedout',
    };

    expect(JSON.parse(reportLine(report))).toEqual({
      time: '2026-11-21T12:00:00.250Z',
      type: 'platform.report',
      record: {
        requestId: '9268b414-8984-4f0b-9f04-13dadc62b51d',
        metrics: { durationMs: 12.346, billedDurationMs: 13, memorySizeMB: 1_024 },
        status: 'timeout',
        errorType: 'Sandbox.Timedout',
      },
    });
  });
});
