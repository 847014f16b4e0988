import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import type { SyncOptions } from '../../../shared/key-registry/sync-keys.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

/** To the millisecond, as the commands write it. */
const ENDED_AT = Date.UTC(2026, 10, 22, 3, 4, 5, 678);
const tagOf = (time: number) => ({ 'tokens-ended': new Date(time).toISOString() });

const database = new EmbeddedDatabase();
let registry: KeyRegistry;

beforeEach(async () => {
  registry = await KeyRegistry.start(database.client);
});

afterEach(() => registry.close());

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };
const read = ({ recordId }: KeyRecord) => registry.table.get(recordId);
const problemOf = ({ keyId }: KeyRecord): string =>
  `The key ${keyId} was restored with tokens that had been ended, and is closed: rotate it.`;
const did = async (options?: SyncOptions): Promise<Partial<SyncReport>> => {
  const { unchanged: _, keysInAccount: __, ...report } = await registry.sync(undefined, options);
  return report;
};

describe('a record that is older than the last ending of a token', () => {
  test.each<[string, Partial<KeyRecord>]>([
    ['by a millisecond', { tokensEndedAt: ENDED_AT - 1 }],
    ['as it has none', {}],
    ['and in the middle of a move', { busy: { by: 'move', since: Date.now(), id: 'aB3x' } }],
    ['and disabled already', { enabled: false }],
  ])('%s is closed by a mark that no sync takes away', async (_, differences) => {
    const { busy: _busy, ...before } = await registry.issuedKey(differences, { tags: tagOf(ENDED_AT) });
    const problems = [problemOf(before)];

    expect(await did()).toEqual({ ...nothing, disabled: [before.keyId], problems });
    const closed = { ...before, enabled: false, restored: true, revision: before.revision + 1 };
    expect(await read(before)).toStrictEqual(closed);
    // Tokens and counters are as they were; and so it stays, with the tag and without it.
    expect(await did()).toEqual({ ...nothing, problems });
    registry.update(before.keyId, { tags: { 'tokens-ended': undefined } });
    expect(await did({ mendTag: () => Promise.resolve() })).toEqual({ ...nothing, problems });
    expect(await read(before)).toStrictEqual(closed);
  });

  test('is closed on no plan too, and goes on being mirrored', async () => {
    const key = await registry.issuedKey({}, { tags: tagOf(ENDED_AT) });
    registry.move(key.keyId);
    expect(await did()).toEqual({ ...nothing, disabled: [key.keyId], problems: [problemOf(key)] });
    registry.move(key.keyId, 'pro');
    registry.update(key.keyId, { name: 'new' });

    expect(await did()).toEqual({ ...nothing, changed: [key.keyId], problems: [problemOf(key)] });
    expect(await read(key)).toMatchObject({ enabled: false, restored: true, plan: 'pro', perMinute: 300, name: 'new' });
  });

  test('is closed beyond the bound on closing many at once', async () => {
    const keys: KeyRecord[] = [];
    while (keys.length < 21) keys.push(await registry.issuedKey({}, { tags: tagOf(ENDED_AT) }));

    expect((await did()).disabled?.toSorted()).toEqual(keys.map(({ keyId }) => keyId).toSorted());
  });

  test('is revoked for good where it is gone or was revoked', async () => {
    const gone = await registry.issuedKey({}, { tags: tagOf(ENDED_AT) });
    registry.records.deleteApiKey(gone.keyId);
    const closed = { enabled: false, revoked: true, purgeAt: 9_999_999_999 };
    const revoked = await registry.issuedKey(closed, { tags: tagOf(ENDED_AT) });

    const problems = [`The key ${revoked.keyId} was revoked, but is still in API Gateway: revoke it again.`];
    expect(await did()).toEqual({ ...nothing, removed: [gone.keyId], problems });
    expect(await read(revoked)).toEqual(revoked);
  });

  test('is left to the command that has just ended a token: its record is another by now', async () => {
    const key = await registry.issuedKey();
    const client = registry.client();
    let begun = false;
    client.middlewareStack.add(
      (next) => async (args) => {
        if (!begun) {
          begun = true;
          // The sync has read the table, and nothing of API Gateway.
          await registry.table.revise(key, { tokensEndedAt: ENDED_AT });
          registry.update(key.keyId, { tags: tagOf(ENDED_AT) });
        }
        return next(args);
      },
      { step: 'initialize' },
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, unchanged: [key.keyId] });
    expect(await read(key)).toEqual({ ...key, tokensEndedAt: ENDED_AT, revision: 2 });
  });

  test('is not one of a key from the console, whose only token is its value: the tag says nothing of it', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { tags: tagOf(ENDED_AT) });

    expect(await did()).toEqual(nothing);
    expect(await read(key)).toEqual(key);
  });
});

describe('a record that is as old as the tag, or newer, stays', () => {
  test.each<[string, Partial<KeyRecord>, Record<string, string>]>([
    ['with no token ended, and no tag', {}, {}],
    ['with both of one time', { tokensEndedAt: ENDED_AT }, tagOf(ENDED_AT)],
    ['with a tag that is no time', {}, { 'tokens-ended': 'yesterday' }],
    ['suspended by an admin', { tokensEndedAt: ENDED_AT, enabled: false, suspendedUntil: NEVER }, tagOf(ENDED_AT)],
  ])('%s', async (_, differences, tags) => {
    const key = await registry.issuedKey(differences, { tags, enabled: differences.enabled ?? true });

    expect(await did()).toEqual(nothing);
    expect(await read(key)).toEqual(key);
  });

  test.each<[string, Record<string, string>]>([
    ['is older', tagOf(ENDED_AT - 1)],
    ['is missing', {}],
    ['is no time', { 'tokens-ended': 'yesterday' }],
  ])('and its tag is mended by an admin where it %s, and reported otherwise', async (_, tags) => {
    const key = await registry.issuedKey({ tokensEndedAt: ENDED_AT }, { tags });
    const problem = `The key ${key.keyId} has an old tag tokens-ended: run npm run admin -- keys sync.`;
    expect(await did()).toEqual({ ...nothing, problems: [problem] });

    const mended: unknown[] = [];
    const mendTag = async (...of: [string, number]) => void mended.push(of);
    expect(await did({ mendTag })).toEqual(nothing);
    expect(mended).toEqual([[key.keyId, ENDED_AT]]);
    expect(await read(key)).toEqual(key);
  });
});
