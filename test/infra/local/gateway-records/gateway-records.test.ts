import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  test('are written with the next change where they could not be', async () => {
    mkdirSync(path.join(folder, 'gateway.json.new'));
    records.putApiKey({ ...key, name: 'lost' });
    expect(() => records.save()).toThrow(/EISDIR/);
    rmSync(path.join(folder, 'gateway.json.new'), { recursive: true });
    records.setNote('a', 'noted');
    reopen();

    expect(records.apiKey('k1')).toMatchObject({ name: 'lost' });
  });

  test('have the requests of a second ago, without anybody asking', async () => {
    records.countRequest('plan', 'k1', DAY);
    while (!existsSync(path.join(folder, 'gateway.json'))) await sleep(50);

    expect(readFileSync(path.join(folder, 'gateway.json'), 'utf8')).toContain('"usage":[["plan","k1","2026-11-21",1]]');
  });
});

test('Records of another version are refused in one line', () => {
  const folder = path.join(parent, String(folders++));
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'gateway.json'), '{"apiKeys":[{"id":"k1"}]}');

  expect(() => GatewayRecords.open(folder)).toThrow(HostError);
  expect(() => GatewayRecords.open(folder)).toThrow(/^The data folder .* broken or of another version [^\n]+$/);
});

test('a key that gets another value is not found by the former', () => {
  const records = GatewayRecords.inMemory();
  records.putApiKey(anApiKey({ value: 'former' }));
  records.putApiKey(anApiKey({ value: 'latter' }));

  expect(records.apiKeyWithValue('former')).toBeUndefined();
  expect(records.apiKeyWithValue('latter')).toMatchObject({ id: 'k1' });
});
