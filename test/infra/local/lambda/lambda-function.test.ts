import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { MAX_PAYLOAD_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { answering, echoing, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

async function invoke(lambda: LambdaFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

/** Counts how often its module was loaded and how often it was called since. */
const counting = `
  const id = Math.random();
  let calls = 0;
  exports.handler = async () => ({ id, calls: ++calls });`;

/** Takes as long as it is told, and answers with its environment and the most events that were under way there. */
const busy = `
  let underWay = 0;
  let most = 0;
  exports.handler = async ({ milliseconds }) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    underWay -= 1;
    return { most, environment: require('node:worker_threads').threadId };
  };`;

const busyResult = v.object({ most: v.number(), environment: v.number() });

async function invokeBusy(lambda: LambdaFunction, milliseconds: number) {
  return v.parse(busyResult, await invoke(lambda, { milliseconds }));
}

describe('the result of a function', () => {
  test.each([
    ['an object', { a: [1, 'ä', null] }],
    ['null', null],
  ])('is JSON: %s', async (_, result) => {
    expect(await invoke(deploy(answering(result)))).toEqual(result);
  });
});

describe('the context of a function', () => {
  test('says which function it is and how long it has left', async () => {
    const source = `exports.handler = async (event, context) => ({
      ...context, left: context.getRemainingTimeInMillis() });`;
    const lambda = deploy(source, { functionName: 'stock', memoryMegabytes: 256, timeoutSeconds: 9 });

    expect(await invoke(lambda)).toEqual({
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      callbackWaitsForEmptyEventLoop: true,
      functionName: 'stock',
      functionVersion: '$LATEST',
      invokedFunctionArn: lambda.arn,
      memoryLimitInMB: '256',
      logGroupName: expect.stringMatching(/-logs$/),
      logStreamName: 'local',
      left: expect.any(Number),
    });
  });
});

describe('the environment variables of a function', () => {
  const variable = 'exports.handler = async (event) => process.env[event.name] ?? null;';

  test('are its own', async () => {
    const [one, other] = [
      deploy(variable, { variables: { TABLE: 'a' } }),
      deploy(variable, { variables: { TABLE: 'b' } }),
    ];

    expect(await Promise.all([invoke(one, { name: 'TABLE' }), invoke(other, { name: 'TABLE' })])).toEqual(['a', 'b']);
  });

  test.each(['PATH', 'HOME', 'NODE_OPTIONS', 'AWS_PROFILE'])('are none of this machine: %s', async (name) => {
    process.env[name] ??= 'of the machine';

    expect(await invoke(deploy(variable), { name })).toBeNull();
  });

  test.each([
    ['AWS_REGION', 'us-east-1'],
    ['AWS_ACCESS_KEY_ID', 'local'],
    ['AWS_LAMBDA_FUNCTION_NAME', 'stock'],
    ['AWS_LAMBDA_FUNCTION_MEMORY_SIZE', '256'],
    ['_HANDLER', 'index.handler'],
  ])('have what Lambda sets: %s is %s', async (name, value) => {
    const lambda = deploy(variable, { functionName: 'stock', memoryMegabytes: 256, logGroupName: 'stock-logs' });

    expect(await invoke(lambda, { name })).toBe(value);
  });
});

describe('an execution environment', () => {
  test('takes event after event, and keeps what its module has', async () => {
    const lambda = deploy(counting);
    const { id } = v.parse(v.object({ id: v.number() }), await invoke(lambda));

    expect(await invoke(lambda)).toEqual({ id, calls: 2 });
    expect(await invoke(lambda)).toEqual({ id, calls: 3 });
  });

  test('takes one event at a time; more events at once get more environments', async () => {
    const lambda = deploy(busy);
    const results = await Promise.all(Array.from({ length: 4 }, () => invokeBusy(lambda, 300)));

    expect(new Set(results.map(({ most }) => most))).toEqual(new Set([1]));
    expect(new Set(results.map(({ environment }) => environment)).size).toBe(3);
  });

  test('is used again before another is started', async () => {
    const lambda = deploy(busy);
    const used = new Set();
    for (let event = 0; event < 5; event++) used.add((await invokeBusy(lambda, 1)).environment);

    expect(used.size).toBe(1);
  });
});

describe('what a function writes', () => {
  test('goes to its log, whatever it writes with', async () => {
    let log = '';
    const source = `console.log('loaded');
      exports.handler = async () => { console.error('failed'); process.stdout.write('written'); };`;
    const lambda = deploy(source, { log: (text) => (log += text) });
    await lambda.invoke('{}');
    await lambda.close();

    expect(log).toMatch(/loaded\n/);
    expect(log).toMatch(/failed\n/);
    expect(log).toMatch(/written/);
  });
});

describe('an event or a result', () => {
  test('is refused where it is longer: the event', async () => {
    const tooLong = JSON.stringify('x'.repeat(MAX_PAYLOAD_BYTES - 1));

    await expect(deploy(echoing).invoke(tooLong)).rejects.toMatchObject({ name: 'EventTooLargeError' });
  });

  test('is refused where it is longer: the result; the next event finds the environment as it was', async () => {
    const source =
      'let calls = 0; exports.handler = async ({ length }) => { calls += 1; return calls + "x".repeat(length); };';
    const lambda = deploy(source);

    await expect(invoke(lambda, { length: MAX_PAYLOAD_BYTES })).rejects.toMatchObject({
      failure: {
        errorType: 'Function.ResponseSizeTooLarge',
        errorMessage: 'Response payload size exceeded maximum allowed payload size (6291556 bytes).',
      },
    });
    expect(await invoke(lambda, { length: 0 })).toBe('2');
  });
});
