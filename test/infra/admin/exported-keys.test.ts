import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { KeySection } from '../../../infra/admin/service-file/key-section.ts';
import { limitTags } from '../../../infra/admin/keys/gateway-calls.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import { newRecord, type NewRecord } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { generateToken, parseToken } from '../../../shared/keys/token.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { InProcessTarget, sync } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

const [source, goal] = [new InProcessTarget(), new InProcessTarget()];
beforeEach(() => {
  source.reset();
  goal.reset();
});
afterAll(() => {
  source.close();
  goal.close();
});

const exported = async (world = source) => {
  const section = new KeySection(world.target);
  return { entries: (await Array.fromAsync(section.all())).flat(), leftOut: section.leftOut };
};

/** As `import-all` does, with `--keep-existing`. */
async function importInto(world: InProcessTarget, entries: Awaited<ReturnType<typeof exported>>['entries']) {
  const section = new KeySection(world.target);
  const existing = await section.existing(entries);
  await section.add(entries.filter((_, index) => existing[index] === 'absent'));
  return { existing, newIds: [...section.newIds.values()] };
}

/** A key of a customer who has used it. */
function issued(keyId: string, differences: Partial<KeyRecord> = {}): NewRecord {
  const token = generateToken();
  const { revision: _, ...record } = aKey({ keyId, name: keyId, perMinute: 60, perDay: 1_000, ...differences }, token);
  return { ...record, currentMinute: 29_000_000, minuteUsed: 3, dayUsed: 40 };
}

const ended = Date.UTC(2026, 10, 20);

/** One of each kind that makes a difference. */
async function issueAll(): Promise<void> {
  const rotated = issued('rotated', { tokensEndedAt: ended });
  const another = tokenEntry(generateToken(rotated.recordId), { until: ended, label: 'old', access: 'read' }, ended);
  await source.issue({ ...rotated, tokens: { ...rotated.tokens, ...another } }, 'free', {
    [gatewayTags.tokensEnded]: new Date(ended).toISOString(),
  });
  const closed = { enabled: false, suspendedUntil: NEVER, suspendedByAdmin: true };
  await source.issue(issued('suspended', closed), 'free');
  const agreed = { perMinute: 900, perDay: 9_000, plan: 'enterprise', expiresAt: Date.UTC(2030, 0, 1) } as const;
  const tags = { ...limitTags(agreed), [gatewayTags.expires]: '2030-01-01', 'cost-center': '7' };
  await source.issue(issued('agreed', agreed), 'enterprise', tags);
  await source.issue(issued('restored', { restored: true, enabled: false }), 'free');
}

/** What the records have in common wherever the key is. */
const comparable = (records: readonly KeyRecord[]) =>
  records
    .map((record) => Object.assign({}, record, { keyId: '', createdAt: 0, revision: 0, interimUntil: 0 }))
    .toSorted((a, b) => (a.recordId < b.recordId ? -1 : 1));

describe('keys of a file', () => {
  test('are the same elsewhere: names, plans, tags, tokens by their hashes, ends, counters; a sync changes nothing', async () => {
    await issueAll();
    const { entries, leftOut } = await exported();
    const { newIds } = await importInto(goal, entries);

    expect(leftOut).toEqual([]);
    expect(comparable(await goal.keys())).toEqual(comparable(await source.keys()));
    expect(await sync(goal.target)).toMatchObject({ added: [], changed: [], disabled: [], removed: [] });
    const again = await exported(goal);
    const withOldIds = again.entries.map((entry) =>
      Object.assign({}, entry, { keyId: newIds.find(({ to }) => to === entry.keyId)?.from }),
    );
    expect(withOldIds).toEqual(entries);
    expect(newIds.map(({ name, from }) => [name, from]).every(([name, from]) => name === from)).toBe(true);
  });

  test('are left alone by a second import, also by one after the first was cut off before any of its calls', async () => {
    await issueAll();
    const { entries } = await exported();
    let calls = Number.POSITIVE_INFINITY;
    for (let at = 0; at < calls; at++) {
      goal.reset();
      let made = 0;
      const cut = goal.run(
        () => importInto(goal, entries),
        () => ((made += 1) > at ? Promise.reject(new Error('cut off')) : Promise.resolve()),
      );
      await cut.then(
        () => (calls = at),
        () => undefined,
      );
      await importInto(goal, entries);
      expect(comparable(await goal.keys())).toEqual(comparable(await source.keys()));
      expect(await sync(goal.target)).toMatchObject({ added: [], changed: [], disabled: [], removed: [] });
    }
    expect(calls).toBeGreaterThan(3 * entries.length);
    expect((await importInto(goal, entries)).existing).toEqual(entries.map(() => 'same'));
  });

  test.each([
    ['was made in the AWS console', 'a-value-of-twenty-characters', {}, true],
    ['is not complete', undefined, { [gatewayTags.unfinished]: '2026-11-21T00:00:00Z' }, true],
    ['is on the Enterprise plan without agreed limits', undefined, {}, true],
    ['has no record that can be read', undefined, limitTags({ perMinute: 1, perDay: 1 }), false],
  ])('are left out, and named, where one %s', async (reason, token = generateToken(), tags = {}, hasRecord) => {
    const { usageIdentifier = '' } = parseToken(token) ?? {};
    source.records.putApiKey(anApiKey({ id: 'odd', name: 'Odd', value: usageIdentifier, tags }));
    source.records.putOnPlan('enterprise', 'odd');
    const { revision: _, ...record } = aKey({ keyId: 'odd', plan: 'enterprise' }, token);
    if (hasRecord) await source.target.keyTable.add(newRecord(record, { tokens: record.tokens }));

    const { entries, leftOut } = await exported();

    expect(entries).toEqual([]);
    expect(leftOut).toEqual([{ id: 'odd', name: 'Odd', reason: expect.stringContaining(reason) }]);
  });

  test('are without those that were revoked, and those of other services', async () => {
    await source.target.keyTable.add(issued('revoked', { revoked: true, enabled: false }));
    source.records.putApiKey(anApiKey({ id: 'foreign', value: 'a-key-of-another-service' }));

    expect(await exported()).toEqual({ entries: [], leftOut: [] });
  });
});

describe('a key that is there already, and was', () => {
  test.each<[string, (record: KeyRecord) => Promise<unknown>, string | undefined]>([
    ['used', (now) => goal.target.keyTable.revise(now, { dayUsed: 41 }), undefined],
    ['revoked', (now) => goal.target.keyTable.revise(now, { revoked: true, enabled: false }), 'enabled, revoked'],
    ['rotated', (now) => goal.target.keyTable.revise(now, { tokens: {}, tokensEndedAt: 1 }), 'tokens, tokensEndedAt'],
    ['moved', (now) => goal.target.keyTable.revise(now, { plan: 'pro', perMinute: 300 }), 'plan, perMinute'],
  ])('%s, stays as it is', async (_, change, differing) => {
    await source.issue(issued('acme'), 'free');
    const { entries } = await exported();
    await importInto(goal, entries);
    for (const record of await goal.keys()) await change(record);
    const before = await goal.keys();

    const { existing, newIds } = await importInto(goal, entries);

    const other = `the key acme, here ${before[0]?.keyId} (${differing})`;
    expect(existing).toEqual([differing === undefined ? 'same' : { other }]);
    expect(newIds).toEqual([{ name: 'acme', from: 'acme', to: before[0]?.keyId }]);
    expect(await goal.keys()).toEqual(before);
  });

  test('put on the plan of another stage without a record here, is not taken for one of this', async () => {
    const acme = issued('acme');
    await source.issue(acme, 'free');
    const { entries } = await exported();
    goal.records.putApiKey(anApiKey({ id: 'theirs', name: 'acme', value: acme.recordId }));
    goal.records.putOnPlan('overflow', 'theirs');

    expect((await importInto(goal, entries)).existing).toEqual([
      { other: 'the key acme, here theirs (in API Gateway)' },
    ]);
    expect(await goal.keys()).toEqual([]);
  });
});
