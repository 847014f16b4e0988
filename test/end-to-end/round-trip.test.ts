import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { recordToJson } from '../../shared/contract/exact-json.ts';
import { inventoryItemSchema, inventoryUpdateSchema } from '../../shared/contract/inventory.ts';
import { orderSchema } from '../../shared/contract/orders.ts';
import { petRecordSchema } from '../../shared/contract/pets.ts';
import { AdminCommand } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { sampleOf } from './sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Records are made from the schemas, so that a new field takes the same way without a change here.

const folder = temporaryFolder();
let source: LocalHost;
let goal: LocalHost;

beforeAll(async () => {
  [source, goal] = await Promise.all([LocalHost.start({ sampleData: false }), LocalHost.start({ sampleData: false })]);
});
afterAll(() => Promise.all([source.close(), goal.close()]));

const apiOf = ({ baseUrl, host }: LocalHost): ApiClient => ApiClient.withKey(baseUrl, host.keys.enterprise);

async function importText(host: LocalHost, records: string, name: string, text: string): Promise<void> {
  const file = join(folder, name);
  writeFileSync(file, text);
  await new AdminCommand(host.origin).output(records, 'import', file);
}

describe.each([
  ['inventory', inventoryItemSchema, '/inventory', ['.csv', '.jsonl']],
  ['orders', orderSchema, '/store/orders', ['.csv', '.jsonl']],
  ['pets', petRecordSchema, `/pets/${MAX_INT64}`, ['.jsonl']],
])('Every field of %s', (records, schema, path, endings) => {
  const record = recordToJson(sampleOf(schema));

  test('is stored and answered', async () => {
    await importText(source, records, 'record.jsonl', record);

    expect((await apiOf(source).send('GET', path)).text).toContain(record.slice(0, -1));
  });

  test.each(endings)('is exported as %s, and imported', async (ending) => {
    const file = join(folder, `exported${ending}`);
    await new AdminCommand(source.origin).output(records, 'export', file);
    await importText(goal, records, `imported${ending}`, readFileSync(file, 'utf8'));

    expect((await apiOf(goal).send('GET', path)).text).toBe((await apiOf(source).send('GET', path)).text);
  });
});

test('An update sets every field that its body has, and is answered with every field, also when it is repeated', async () => {
  const entry: object = Object(sampleOf(inventoryItemSchema));
  const update: object = Object(sampleOf(inventoryUpdateSchema));
  const api = apiOf(source);
  const send = async (path: string, body: string, headers = {}): Promise<string> =>
    (await api.send('PATCH', path, { headers: { 'Content-Type': 'application/json', ...headers }, body })).text;
  const paths = [`/inventory/${MAX_INT64}`, '/inventory'] as const;
  const before = recordToJson({ ...entry, quantity: 1 });
  const after = recordToJson({ ...entry, ...update });
  await importText(source, 'inventory', 'before.jsonl', before);

  const key = { 'Idempotency-Key': '"round-trip"' };
  expect(await send(paths[0], recordToJson(update), key)).toBe(after);
  await importText(source, 'inventory', 'before.jsonl', before);
  expect(await send(paths[0], recordToJson(update), key)).toBe(after);
  expect(await send(paths[0], recordToJson(update))).toBe(after);
  await importText(source, 'inventory', 'before.jsonl', before);
  expect(await send(paths[1], `[${recordToJson({ petId: MAX_INT64, ...update })}]`)).toContain(`"item":${after}}`);
});
