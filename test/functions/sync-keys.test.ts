import { type APIGatewayClient, CreateApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usagePlanOf } from '../../infra/local/issue-demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { anApiKey, gatewayAt } from '../support/gateway-records.ts';
import { LocalHost } from '../support/local-host.ts';
import { syncLogOf, type SyncRun, syncRuns } from '../support/request-lines.ts';

/** More than a line names. */
const MANY = 130;
const NAMED = 100;

const valueOf = (index: number) => `made-in-the-console-${index}`;

describe('sync-keys', () => {
  let host: LocalHost;
  let console: APIGatewayClient;
  let runs = 0;

  beforeAll(async () => {
    host = await LocalHost.start();
    console = gatewayAt(host.origin);
  });

  afterAll(async () => {
    console.destroy();
    await host.close();
  });

  /** Puts a key on the Free plan, without an event that tells of it. */
  function putKey(index: number, tags: Record<string, string> = {}): string {
    const { records } = host.host;
    const id = `key-${index}`;
    records.putApiKey(anApiKey({ id, value: valueOf(index), name: `customer ${index}`, tags }));
    records.putOnPlan(usagePlanOf(records, 'free')?.id ?? '', id);
    return id;
  }

  /** Makes a change that an event tells of, and waits for the run that follows. */
  async function nextRun(): Promise<SyncRun | undefined> {
    await console.send(new CreateApiKeyCommand({ name: 'on no plan' }));
    runs += 1;
    return (await syncRuns(host, runs)).at(runs - 1);
  }

  test('counts all that it did, and names up to a hundred keys', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => putKey(index));
    const run = await nextRun();
    const { _aws: format, ...members } = run ?? {};

    expect(members).toMatchObject({ service: 'sync-keys', stack: 'staging-Inventory' });
    expect(members).toMatchObject({ KeysAdded: MANY, KeysChanged: 0, KeysUnchanged: 4, SyncProblems: 0 });
    expect(run?.added).toHaveLength(NAMED);
    expect(ids).toEqual(expect.arrayContaining(run?.added ?? []));
    const Metrics = [{ Name: 'KeysAdded', Unit: 'Count' }];
    expect(format?.CloudWatchMetrics).toEqual([
      { Namespace: 'PetStoreInventory', Dimensions: [['service', 'stack']], Metrics },
    ]);
  });

  test('names the keys of each kind, and up to a hundred problems', async () => {
    const { records } = host.host;
    records.putApiKey(anApiKey({ id: 'key-0', value: valueOf(0), name: 'renamed' }));
    records.removeFromPlan(usagePlanOf(records, 'free')?.id ?? '', 'key-1');
    records.deleteApiKey('key-2');
    for (let index = 10; index < MANY; index++) putKey(index, { expires: 'soon' });

    const run = await nextRun();
    expect(run).toMatchObject({
      KeysAdded: 0,
      KeysChanged: 1,
      KeysDisabled: 1,
      KeysRemoved: 1,
      KeysUnchanged: 4 + 7 + MANY - 10,
      SyncConflicts: 0,
      SyncProblems: MANY - 10,
      added: [],
      changed: ['key-0'],
      removed: ['key-2'],
    });
    expect(run?.disabled).toEqual(['key-1']);
    expect(run?.problems).toHaveLength(NAMED);
    expect(run?.problems[0]).toMatch(/^The key key-\d+ has a tag expires that is no ISO 8601 date\.$/);
  });

  test('has never logged a key, nor a hash of one', () => {
    const log = syncLogOf(host);
    const secrets = Array.from({ length: MANY }, (_, index) => [valueOf(index), hashApiKey(valueOf(index))]).flat();

    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  });
});
