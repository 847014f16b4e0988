import { execFile, spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { usagePlanOf } from '../../infra/local/issue-demo-keys.ts';
import { LocalHost } from '../support/local-host.ts';

// The AWS CLI takes a second and more to start.
jest.setTimeout(120_000);

const hasAwsCli = spawnSync('aws', ['--version']).status === 0;
if (!hasAwsCli) process.stderr.write('Skipped: the AWS CLI against a local host: there is no aws on the PATH\n');

const withId = v.looseObject({ id: v.string() });
const withItems = v.looseObject({ items: v.array(v.looseObject({ id: v.string() })) });

(hasAwsCli ? describe : describe.skip)('The stock AWS CLI works on a local host', () => {
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start();
  });

  afterAll(() => host.close());

  /** Runs `aws apigateway …`. @returns what it prints, parsed; undefined where it prints nothing */
  async function aws(...args: readonly string[]): Promise<unknown> {
    const command = ['apigateway', ...args, '--endpoint-url', host.origin, '--region', 'us-east-1', '--output', 'json'];
    const env = {
      ...process.env,
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      AWS_PAGER: '',
    };
    const { stdout } = await promisify(execFile)('aws', command, { env });
    return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  }

  const idOf = async (...args: readonly string[]) => v.parse(withId, await aws(...args)).id;

  test('makes a key and a plan, puts one on the other, and takes all away again', async () => {
    const { apiStages: [apiStage] = [] } = usagePlanOf(host.host.records, 'free') ?? {};
    const stage = `apiId=${apiStage?.apiId},stage=${apiStage?.stage}`;
    const keyId = await idOf('create-api-key', '--name', 'acme', '--enabled', '--tags', 'customer=acme');
    const limits = ['--throttle', 'rateLimit=2,burstLimit=4', '--quota', 'limit=100,period=DAY'];
    const planId = await idOf('create-usage-plan', '--name', 'acme', '--api-stages', stage, ...limits);
    await aws('create-usage-plan-key', '--usage-plan-id', planId, '--key-id', keyId, '--key-type', 'API_KEY');
    const keys = v.parse(withItems, await aws('get-usage-plan-keys', '--usage-plan-id', planId));
    const date = new Date().toISOString().slice(0, 10);
    const usage = await aws('get-usage', '--usage-plan-id', planId, '--start-date', date, '--end-date', date);
    await aws('delete-usage-plan-key', '--usage-plan-id', planId, '--key-id', keyId);
    const removeStage = `op=remove,path=/apiStages,value=${apiStage?.apiId}:${apiStage?.stage}`;
    await aws('update-usage-plan', '--usage-plan-id', planId, '--patch-operations', removeStage);
    await aws('delete-usage-plan', '--usage-plan-id', planId);
    await aws('delete-api-key', '--api-key', keyId);

    expect(keys.items).toMatchObject([{ id: keyId, name: 'acme', type: 'API_KEY' }]);
    expect(usage).toMatchObject({ usagePlanId: planId, items: { [keyId]: [[0, 100]] } });
    await expect(aws('get-api-key', '--api-key', keyId)).rejects.toThrow(
      /An error occurred \(NotFoundException\) when calling the GetApiKey operation: Invalid API Key identifier/,
    );
  });

  test('reads and changes a key, and its tags', async () => {
    const key = ['--api-key', 'demo-enterprise'];
    const resource = ['--resource-arn', 'arn:aws:apigateway:us-east-1::/apikeys/demo-enterprise'];
    const changed = await aws('update-api-key', ...key, '--patch-operations', 'op=replace,path=/enabled,value=false');
    await aws('tag-resource', ...resource, '--tags', 'per-minute=5,note=for tests');
    await aws('untag-resource', ...resource, '--tag-keys', 'per-day', 'none');

    expect(changed).toMatchObject({ id: 'demo-enterprise', enabled: false });
    expect(await aws('get-tags', ...resource)).toEqual({ tags: { 'per-minute': '5', note: 'for tests' } });
    expect(await aws('get-api-key', ...key, '--include-value')).toMatchObject({
      value: expect.stringMatching(/^\w{64}$/),
    });
  });

  test('lists keys and plans, in as many calls as it takes', async () => {
    const keys = v.parse(withItems, await aws('get-api-keys', '--name-query', 'Demo', '--page-size', '1'));
    const plans = v.parse(withItems, await aws('get-usage-plans', '--key-id', 'demo-free'));

    expect(keys.items.map(({ id }) => id)).toEqual(['demo-business', 'demo-enterprise', 'demo-free', 'demo-pro']);
    expect(plans.items).toHaveLength(1);
  });
});
