import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HostError } from '../../../../infra/local/host-error.ts';
import { GatewayRecords } from '../../../../infra/local/gateway-records/gateway-records.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const DAY = 20_778;

const parent = temporaryFolder();
let folders = 0;

describe('records in a data folder', () => {
  let folder: string;
  let records: GatewayRecords;

  beforeEach(() => {
    folder = path.join(parent, String(folders++));
    records = GatewayRecords.open(folder);
  });

  afterEach(() => records.close());

  function reopen(): void {
    records.close();
    records = GatewayRecords.open(folder);
  }

  const key = anApiKey({ name: 'acme', description: 'for tests', tags: { constructor: 'x', a: '' } });
  const plan = aUsagePlan({
    description: 'for tests',
    throttle: { rateLimit: 0.5, burstLimit: 2 },
    quota: { limit: 3 },
    tags: { plan: 'free' },
  });

  test('are all there again', async () => {
    records.putApiKey(key);
    records.putUsagePlan(plan);
    records.putOnPlan('plan', 'k1');
    records.countRequest('plan', 'k1', DAY);
    records.countRequest('plan', 'k1', DAY);
    records.setNote('a/b', 'noted');
    reopen();

    expect(records.apiKeys).toEqual([key]);
    expect(records.apiKeyWithValue(key.value)).toEqual(key);
    expect(records.usagePlans).toEqual([plan]);
    expect(records.keysOnPlan('plan')).toEqual([key]);
    expect(records.plansOfKey('k1')).toEqual([plan]);
    expect(records.usage('plan', 'k1').on(DAY)).toBe(2);
    expect(records.usage('plan', 'k1').latestDay).toBe(DAY);
    expect(records.note('a/b')).toBe('noted');
  });

  function save(name: string): void {
    records.putApiKey({ ...key, name });
    records.save();
  }

  test('are written whole, beside the file that is there until then', async () => {
    records.putApiKey(key);
    records.save();
    // What a host leaves behind that is killed while it writes.
    writeFileSync(path.join(folder, 'gateway.json.new'), '{"apiKeys":[');
    reopen();

    expect(records.apiKeys).toEqual([key]);
  });

  test('are written with the next change where they could not be', async () => {
    mkdirSync(path.join(folder, 'gateway.json.new'));
    expect(() => save('lost')).toThrow(/EISDIR/);
    rmSync(path.join(folder, 'gateway.json.new'), { recursive: true });
    records.setNote('a', 'noted');
    reopen();

    expect(records.apiKey('k1')).toMatchObject({ name: 'lost' });
  });

  /** Opens a copy of the folder as it is now: what a host finds whose forerunner was killed. */
  function openCopy(): GatewayRecords {
    const copy = path.join(parent, String(folders++));
    cpSync(folder, copy, { recursive: true });
    return GatewayRecords.open(copy);
  }

  test('have the requests of a second ago, without anybody asking', async () => {
    records.countRequest('plan', 'k1', DAY);
    const deadline = performance.now() + 10_000;
    let counted = 0;
    while (counted === 0 && performance.now() < deadline) {
      await sleep(100);
      const copy = openCopy();
      counted = copy.usage('plan', 'k1').on(DAY);
      copy.close();
    }

    expect(counted).toBe(1);
  });
});

test.each([
  ['another version', '{"apiKeys":[{"id":"k1"}]}'],
  ['no JSON', '{"apiKeys":'],
])('records of %s are refused in one line', (_, text) => {
  const folder = path.join(parent, String(folders++));
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'gateway.json'), text);

  expect(() => GatewayRecords.open(folder)).toThrow(HostError);
  expect(() => GatewayRecords.open(folder)).toThrow(/^The data folder .* broken or of another version [^\n]+$/);
});

describe('an id', () => {
  test('is ten small letters and digits, another each time', () => {
    const records = GatewayRecords.inMemory();
    const ids = Array.from({ length: 1_000 }, () => records.newId());

    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-z]{10}$/)));
    expect(new Set(ids).size).toBe(1_000);
  });
});

test('a key that gets another value is not found by the former', () => {
  const records = GatewayRecords.inMemory();
  records.putApiKey(anApiKey({ value: 'former' }));
  records.putApiKey(anApiKey({ value: 'latter' }));

  expect(records.apiKeyWithValue('former')).toBeUndefined();
  expect(records.apiKeyWithValue('latter')).toMatchObject({ id: 'k1' });
});
