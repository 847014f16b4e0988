import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { integrate } from '../../../../infra/local/gateway/integration.ts';
import { MAX_PAYLOAD_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import { answering, echoing, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

test('An integration gives the result of its function as JSON text', async () => {
  expect(await integrate(deploy(echoing), '{"a":1}', 10_000)).toBe('{"a":1}');
});

describe('an integration whose function fails is a 502', () => {
  test.each([
    ['throws', `exports.handler = async () => { throw new Error('no'); };`],
    ['throws what only an authorizer may', `exports.handler = async () => { throw new Error('Unauthorized'); };`],
    ['exits', 'exports.handler = async () => process.exit(1);'],
    ['cannot be loaded', `throw new Error('no')`],
    ['has a result that is too long', `exports.handler = async () => 'x'.repeat(${MAX_PAYLOAD_BYTES});`],
  ])('%s', async (_, source) => {
    await expect(integrate(deploy(source), '{}', 10_000)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });

  test('runs into its own time-out', async () => {
    const lambda = deploy('exports.handler = () => new Promise(() => {});', { timeoutSeconds: 0.1 });

    await expect(integrate(lambda, '{}', 10_000)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });
});

test('An event that is too long for a function is a 413', async () => {
  const event = JSON.stringify('x'.repeat(MAX_PAYLOAD_BYTES));

  await expect(integrate(deploy(echoing), event, 10_000)).rejects.toEqual(gatewayError('REQUEST_TOO_LARGE'));
});

describe('an integration that outlasts its time-out', () => {
  /** Answers late, and with how many events it has finished by then. */
  const slow = `
    let finished = 0;
    exports.handler = async ({ milliseconds }) => {
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return ++finished;
    };`;

  test('is a 504, on time', async () => {
    const lambda = deploy(slow);
    await lambda.invoke('{"milliseconds":0}');
    const startedAt = Date.now();

    await expect(integrate(lambda, '{"milliseconds":5000}', 200)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(190);
    expect(Date.now() - startedAt).toBeLessThan(4_000);
  });

  test('lets its function run on to its end', async () => {
    const lambda = deploy(slow);
    await lambda.invoke('{"milliseconds":0}');
    await integrate(lambda, '{"milliseconds":200}', 50).catch(() => undefined);
    await sleep(600);

    expect(await lambda.invoke('{"milliseconds":0}')).toBe('3');
  });

  test('hides it when its function fails after all', async () => {
    const lambda = deploy(`exports.handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 200)); throw new Error('late'); };`);
    const failure: unknown = await integrate(lambda, '{}', 50).catch((error: unknown) => error);
    await sleep(500);

    expect(failure).toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test('leaves no timer behind when it is in time', async () => {
    const lambda = deploy(answering(1));
    const before = timers();
    for (let event = 0; event < 20; event++) await integrate(lambda, '{}', 60_000);

    expect(timers()).toBeLessThan(before + 10);
  });
});
