import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminCommand, type CreatedKey } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { MAX_INT64, MIN_INT64 } from '../support/int64.ts';
import { IssuedKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry } from '../support/tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const file = join(folder, 'service.jsonl');

let source: LocalHost;
let goal: LocalHost;
let from: AdminCommand;
let to: AdminCommand;
let tokens: Record<string, string>;

beforeAll(async () => {
  [source, goal] = await Promise.all([LocalHost.start(), LocalHost.start({ sampleData: false })]);
  [from, to] = [new AdminCommand(source.origin), new AdminCommand(goal.origin)];
  // A service that was just deployed has the keys of its internal usage plans, and no others.
  for (const token of Object.values(goal.host.keys)) {
    const key = new IssuedKey(goal, token);
    goal.host.records.deleteApiKey((await key.read()).keyId);
    await key.delete();
  }
  await source.stock.putAll([anEntry(MIN_INT64, 0, 'sold'), anEntry('9007199254740993', 3), anEntry(MAX_INT64, 7)]);
  const create = (name: string, ...more: string[]): Promise<CreatedKey> =>
    from.newKey('create', '--name', name, '--plan', ...(more.length > 0 ? more : ['pro']));
  const [rotated, suspended, revoked] = [await create('Rotated'), await create('Suspended'), await create('Revoked')];
  const replacement = await from.newKey('rotate', rotated.id);
  const reports = await from.newKey('add', rotated.id, '--label', 'reports', '--read-only');
  const agreed = await create('Agreed', 'enterprise', '--per-minute', '900', '--per-day', '9000');
  await from.output('keys', 'suspend', suspended.id);
  await from.output('keys', 'revoke', revoked.id, '--yes');
  const keys = { rotated, replacement, reports, agreed, suspended, revoked };
  const created = Object.entries(keys).map(([name, { key }]) => [name, key]);
  tokens = { demo: source.host.keys.free, ...Object.fromEntries(created) };
  for (const token of Object.values(tokens)) for (const host of [source, goal]) host.issuedKeys.add(token);
  await answers(source);
}, 60_000);

afterAll(() => Promise.all([source.close(), goal.close()]));

/** What each token is answered, and what it has left of the day. */
async function answers({ baseUrl }: LocalHost): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const [name, token] of Object.entries(tokens)) {
    const { status, text, headers } = await ApiClient.withKey(baseUrl, token).send('GET', '/pets/101');
    all.push([name, status, status === 200 ? text : '', /"day";r=\d+/.exec(headers.get('RateLimit') ?? '')?.[0]]);
  }
  return all;
}

const listOf = async ({ baseUrl }: LocalHost) => (await ApiClient.withKey(baseUrl, tokens['agreed'] ?? '').list()).text;

test('export-all writes the same bytes again, for their owner alone, without a token; what it leaves out, it names', async () => {
  const { records } = source.host;
  const plan = records.usagePlans.find(({ tags }) => tags['plan'] === 'free');
  records.putApiKey({ ...anyKey, id: 'by-hand', name: 'By hand', value: 'a-value-of-twenty-characters' });
  records.putOnPlan(plan?.id ?? '', 'by-hand');
  const output = await from.output('export-all', file);
  const first = readFileSync(file, 'utf8');
  await from.output('export-all', file);

  expect(output).toMatch(/stock \d+, pets 37, orders 22, keys 7\.\nLeft out: the key By hand \(by-hand\) was made in/);
  expect(readFileSync(file, 'utf8')).toBe(first);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['service.jsonl']);
  expect(first).not.toMatch(/psk_|a-value-of-twenty/);
});

const anyKey = { enabled: true, createdAt: 0, tags: {} };

describe('import-all', () => {
  test('is refused by a service that has something else, unless that is to be kept; nothing is written', async () => {
    await goal.stock.put(anEntry('101', 1_000));
    expect((await to.run('import-all', file)).stderr).toBe(
      'There already, and different: the stock entry with petId 101\n' +
        'Nothing was written. To leave these as they are, and import the rest, add --keep-existing.\n',
    );
    expect(await to.json('keys', 'list')).toEqual([]);
    await goal.stock.delete('101');
  });

  test('of a file that is not there says so', async () => {
    expect(await to.failure('import-all', join(folder, 'none.jsonl'))).toMatch(/^Cannot read .*none\.jsonl: ENOENT/);
  });

  test('completes what was cut off: the same tokens then get the same answers, and have the same left', async () => {
    const link = await FaultyLink.to(goal.origin);
    let keys = 0;
    link.faults = ({ method, path }) =>
      method === 'POST' && path === '/apikeys' && (keys += 1) > 2
        ? awsFault(403, 'AccessDeniedException', 'You may make no more.')
        : undefined;
    expect(await new AdminCommand(link.origin).failure('import-all', file)).toMatch(
      /^The import stopped after \d+ of /,
    );
    await link.close();
    const output = await to.output('import-all', file);

    expect(output).toMatch(/: stock 0, pets 0, orders 0, keys 5\.\nAlready there: \d+\.\n\nkey\tid there\tid here\n/);
    expect(output.split('\n').filter((line) => line.includes('\t'))).toHaveLength(1 + 7);
    expect(await answers(goal)).toEqual(await answers(source));
    expect(await listOf(goal)).toBe(await listOf(source));
    expect(await to.output('keys', 'sync')).toContain('0 added, 0 changed, 0 disabled, 0 removed,');
  });

  test('again changes nothing, also where the keys were used and the stock was changed since, which is kept', async () => {
    await goal.stock.put(anEntry('101', 1_001));
    const before = [await listOf(goal), goal.host.records.apiKeys];

    expect(await to.output('import-all', file, '--keep-existing')).toContain(
      'Already there, different, and left as they are: 1.',
    );
    expect([await listOf(goal), goal.host.records.apiKeys]).toEqual(before);
  });
});
