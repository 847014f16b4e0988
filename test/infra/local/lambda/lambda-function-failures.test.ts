import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

async function invoke(lambda: LambdaFunction, event: unknown = {}): Promise<unknown> {
  const result: unknown = JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return result;
}

const failure = (errorType: unknown, errorMessage: unknown) =>
  expect.objectContaining({ name: 'FunctionError', failure: { errorType, errorMessage } });

describe('a function that fails', () => {
  test.each([
    ['throws', `throw new RangeError('too far')`, 'RangeError', 'too far'],
    ['throws text', `throw 'Unauthorized'`, 'string', 'Unauthorized'],
    ['returns what JSON cannot hold', `return 1n`, 'TypeError', expect.stringContaining('BigInt')],
  ])('%s', async (_, body, errorType, errorMessage) => {
    await expect(deploy(`exports.handler = async () => { ${body}; };`).invoke('{}')).rejects.toEqual(
      failure(errorType, errorMessage),
    );
  });

  test('keeps its environment', async () => {
    const lambda = deploy(`let calls = 0;
      exports.handler = async ({ fail }) => { calls += 1; if (fail) throw new Error('no'); return calls; };`);
    await invoke(lambda, { fail: true }).catch(() => undefined);

    expect(await invoke(lambda)).toBe(2);
  });
});

describe('a function that cannot be loaded', () => {
  test.each([
    ['throws as it is loaded', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['is no JavaScript', `exports.handler = {{`, 'SyntaxError', expect.any(String)],
    [
      'needs a module that is not there',
      `require('none')`,
      'Error',
      expect.stringContaining("Cannot find module 'none'"),
    ],
    ['exports no handler', `exports.other = () => 1;`, 'TypeError', 'index.handler is undefined or not exported'],
    ['exits', `process.exit(3)`, 'Runtime.ExitError', expect.stringContaining('exit status 3')],
  ])('%s', async (_, source, errorType, errorMessage) => {
    await expect(deploy(source).invoke('{}')).rejects.toEqual(failure(errorType, errorMessage));
  });

  test('is loaded anew for the next event', async () => {
    const lambda = deploy(`
      const { existsSync, writeFileSync } = require('node:fs');
      const marker = __dirname + '/loaded-before';
      if (!existsSync(marker)) { writeFileSync(marker, ''); throw new Error('first'); }
      exports.handler = async () => 'loaded';`);

    await expect(lambda.invoke('{}')).rejects.toEqual(failure('Error', 'first'));
    expect(await invoke(lambda)).toBe('loaded');
  });
});

describe('an execution environment that breaks', () => {
  /** Does what the event says; a fresh environment has seen one event. */
  const source = `
    let calls = 0;
    exports.handler = async ({ what }) => {
      calls += 1;
      if (what === 'exit') process.exit(0);
      if (what === 'exit 7') process.exit(7);
      if (what === 'throw in a timer') await new Promise(() => setTimeout(() => { throw new Error('late'); }));
      if (what === 'reject unseen') { Promise.reject(new Error('unseen')); await new Promise(() => {}); }
      if (what === 'fill the memory') for (const all = []; ; ) all.push(new Array(1e5).fill(calls));
      return calls;
    };`;

  test.each([
    ['exit', 'exit status 0'],
    ['throw in a timer', 'late'],
    ['reject unseen', 'unseen'],
    ['fill the memory', 'memory'],
  ])('is replaced for the next event: %s', async (what, reason) => {
    const lambda = deploy(source, { memoryMegabytes: 32 });
    await invoke(lambda);

    await expect(invoke(lambda, { what })).rejects.toEqual(
      failure('Runtime.ExitError', expect.stringContaining(reason)),
    );
    expect(await invoke(lambda)).toBe(1);
  });

  test('logs why', async () => {
    let log = '';
    const lambda = deploy(source, { log: (text) => (log += text) });
    await invoke(lambda, { what: 'throw in a timer' }).catch(() => undefined);

    expect(log).toContain('late');
  });
});

describe('a function that takes too long', () => {
  const source = `
    let calls = 0;
    exports.handler = async ({ what }) => {
      calls += 1;
      if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, 60_000));
      if (what === 'never answer') await new Promise(() => {});
      if (what === 'loop') for (;;);
      return calls;
    };`;

  test.each(['wait', 'never answer', 'loop'])('is stopped, and starts anew for the next event: %s', async (what) => {
    const lambda = deploy(source, { timeoutSeconds: 0.3 });
    await invoke(lambda);
    const startedAt = Date.now();

    await expect(invoke(lambda, { what })).rejects.toEqual(failure('Sandbox.Timedout', 'Task timed out'));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(290);
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect(await invoke(lambda)).toBe(1);
  });
});

describe('a function that is closed', () => {
  test('breaks off what is under way', async () => {
    const lambda = deploy('exports.handler = () => new Promise((resolve) => setTimeout(resolve, 60_000));');
    const underWay = lambda.invoke('{}').catch((error: unknown) => error);
    await sleep(300);
    await lambda.close();

    expect(await underWay).toMatchObject({ name: 'FunctionError', failure: { errorType: 'Runtime.ExitError' } });
  });
});
