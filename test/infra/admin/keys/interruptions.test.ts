import { paginateGetApiKeys, paginateGetUsagePlans } from '@aws-sdk/client-api-gateway';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { AdminError } from '../../../../infra/admin/admin-error.ts';
import { createKey, type KeyOrder, type NewKey } from '../../../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../../../infra/admin/keys/move-key.ts';
import { findDoomedKey, revokeKey } from '../../../../infra/admin/keys/revoke-key.ts';
import { rotateKey } from '../../../../infra/admin/keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../../../../infra/admin/keys/suspend-key.ts';
import type { Target } from '../../../../infra/admin/target.ts';
import { syncKeys } from '../../../../shared/key-registry/sync-keys.ts';
import { hashApiKey } from '../../../../shared/keys/api-key.ts';
import { adminTarget, closeTarget, cutNetwork, NETWORK_CUT } from '../../../support/admin-target.ts';
import { ApiClient } from '../../../support/api-client.ts';
import { LocalHost } from '../../../support/local-host.ts';

const AGREED = { perMinute: 900, perDay: 5_000 };
const DAY_MS = 86_400_000;
/** More calls than any command makes. */
const NEVER = 1_000;

let host: LocalHost;
let names = 0;
const targets: Target[] = [];

beforeAll(async () => {
  host = await LocalHost.start();
  onlooker = await adminTarget(host);
});

afterEach(() => {
  for (const target of targets.splice(0)) closeTarget(target);
});

afterAll(() => {
  closeTarget(onlooker);
  return host.close();
});

/** As good as a new run of the command. */
async function newTarget(): Promise<Target> {
  const target = await adminTarget(host);
  targets.push(target);
  return target;
}

/** For looking at what is there: nothing is cut off for it. */
let onlooker: Target;

const newName = (): string => `customer-${(names += 1)}`;
const enterprise = (name: string): KeyOrder => ({ name, plan: 'enterprise', limits: AGREED, expiresAt: undefined });
const free = (name: string): KeyOrder => ({ name, plan: 'free', limits: undefined, expiresAt: undefined });
const statusWith = async (key: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

/** Keys of a name that are complete. */
async function idsNamed(name: string): Promise<string[]> {
  const { gateway: client } = onlooker;
  const ids: string[] = [];
  for await (const { items = [] } of paginateGetApiKeys({ client }, { nameQuery: name })) {
    const complete = items.filter((key) => key.name === name && key.tags?.unfinished === undefined);
    ids.push(...complete.map(({ id = '' }) => id));
  }
  return ids;
}

/** Usage plans that were made for keys of a name. */
async function ownPlansOf(name: string): Promise<string[]> {
  const { gateway: client } = onlooker;
  const found: string[] = [];
  for await (const { items = [] } of paginateGetUsagePlans({ client }, {})) {
    found.push(...items.flatMap((plan) => (plan.name?.endsWith(`: ${name}`) ? [plan.id ?? ''] : [])));
  }
  return found;
}

/** Lets commands that were cut off until now be taken for that, and not for being under way. */
function letTimePass(): void {
  const later = Date.now() + 11 * 60_000;
  jest.spyOn(Date, 'now').mockImplementation(() => later);
}

/** Lets no later case pay for the keys of an earlier one. */
async function revokeAllKeys(): Promise<void> {
  const ids: string[] = [];
  for await (const page of onlooker.keyTable.pages()) ids.push(...page.map(({ keyId }) => keyId));
  for (const id of ids.filter((keyId) => !keyId.startsWith('demo-'))) await revokeIfThere(onlooker, id);
  await leftToSync();
}

/** As often as an admin would, and in the end there is no such key. */
async function revokeIfThere(target: Target, id: string): Promise<void> {
  try {
    await revokeKey(target, await findDoomedKey(target, id));
  } catch (error) {
    if (!(error instanceof AdminError && error.message.startsWith(`There is no key ${id}`))) throw error;
  }
}

/** What a sync would still have to do. */
async function leftToSync(): Promise<object> {
  const { gateway, keyTable, apiStage } = onlooker;
  const { added, changed, disabled, removed, problems } = await syncKeys(gateway, keyTable, apiStage);
  return { added, changed, disabled, removed, problems };
}

const NOTHING = { added: [], changed: [], disabled: [], removed: [], problems: [] };

/**
 * Runs a command with the network cut between any two of its calls, before the first and after the last. Between the
 * cut and the second try a sync may happen too.
 */
async function atEachCut<Subject>(
  prepare: () => Promise<Subject>,
  command: (target: Target, subject: Subject) => Promise<unknown>,
  check: (subject: Subject) => Promise<void>,
  checkComplete = check,
): Promise<void> {
  const rehearsal = await newTarget();
  const { made: calls } = await (async () => {
    const subject = await prepare();
    const count = cutNetwork(rehearsal, NEVER, 'before');
    await command(rehearsal, subject);
    return count;
  })();
  expect(calls).toBeGreaterThan(2);
  for (let done = 0; done <= calls; done++) {
    // Before the next call, or after the last: then the command is complete, and only its answer is lost. A cut after
    // any other call is one before the next: whoever is cut off does nothing more.
    const isComplete = done === calls;
    const subject = await prepare();
    const target = await newTarget();
    cutNetwork(target, isComplete ? calls : done + 1, isComplete ? 'after' : 'before');
    await expect(command(target, subject)).rejects.toThrow(NETWORK_CUT);
    await (isComplete ? checkComplete : check)(subject);
    await revokeAllKeys();
  }
}

describe('keys create, cut off anywhere', () => {
  test.each([
    ['on a plan of the catalogue', free],
    ['with a usage plan of its own', enterprise],
  ])(
    'is repaired by running it again: %s',
    async (_, orderOf) => {
      await atEachCut(
        () => Promise.resolve(orderOf(newName())),
        (target, order) => createKey(target, order),
        async (order) => {
          const { id, key } = await createKey(await newTarget(), order);

          expect(await statusWith(key)).toBe(200);
          expect(await idsNamed(order.name)).toEqual([id]);
          expect(await leftToSync()).toEqual(NOTHING);

          letTimePass();
          await createKey(await newTarget(), order);
          jest.restoreAllMocks();
          expect(await ownPlansOf(order.name)).toHaveLength(order.limits ? 2 : 0);
          expect(await leftToSync()).toEqual(NOTHING);
        },
        // A complete key stays, listed beside the new one. Nobody has ever seen it.
        async (order) => {
          await createKey(await newTarget(), order);

          expect(await idsNamed(order.name)).toHaveLength(2);
          expect(await leftToSync()).toEqual(NOTHING);
        },
      );
    },
    60_000,
  );
});

describe('keys move, cut off anywhere', () => {
  test.each<[string, (name: string) => KeyOrder, 'pro' | 'enterprise']>([
    ['from Free to Pro', free, 'pro'],
    ['from Free to Enterprise', free, 'enterprise'],
    ['from Enterprise to Pro', enterprise, 'pro'],
    ['from one agreement to another', enterprise, 'enterprise'],
  ])(
    'keeps the key working, and is completed by running it again: %s',
    async (_, orderOf, plan) => {
      const agreed = plan === 'enterprise' ? { perMinute: 800, perDay: 4_000 } : undefined;
      await atEachCut(
        async () => createKey(await newTarget(), orderOf(newName())),
        (target, { id }) => moveKey(target, id, plan, agreed),
        async ({ id, key, name }) => {
          expect(await statusWith(key)).toBe(200);
          const { perMinute } = await moveKey(await newTarget(), id, plan, agreed);

          const { status, rateLimit } = await ApiClient.withKey(host.baseUrl, key).list();
          expect({ status, limit: rateLimit.limit }).toEqual({ status: 200, limit: perMinute });
          expect(await leftToSync()).toEqual(NOTHING);

          letTimePass();
          await moveKey(await newTarget(), id, plan, agreed);
          jest.restoreAllMocks();
          expect(await ownPlansOf(name)).toHaveLength(plan === 'enterprise' ? 1 : 0);
        },
      );
    },
    60_000,
  );
});

describe('keys rotate, cut off anywhere', () => {
  test.each([
    ['at once', () => Promise.resolve()],
    ['after a sync', async () => void (await leftToSync())],
  ])(
    'keeps the old key working, and is completed by running it again %s',
    async (_, meanwhile) => {
      await atEachCut(
        async () => createKey(await newTarget(), free(newName())),
        (target, { id }) => rotateKey(target, id, DAY_MS),
        async (old) => {
          expect(await statusWith(old.key)).toBe(200);
          await meanwhile();
          expect(await statusWith(old.key)).toBe(200);
          const { id, key } = await rotateKey(await newTarget(), old.id, DAY_MS);

          expect(await statusWith(key)).toBe(200);
          expect(await statusWith(old.key)).toBe(200);
          expect(await onlooker.keyTable.get(hashApiKey(key))).toMatchObject({ dayUsed: 4 });
          expect(new Set(await idsNamed(old.name))).toEqual(new Set([old.id, id]));
          expect(await leftToSync()).toEqual(NOTHING);
        },
        // The new key is the one to rotate then, and the message names it.
        async (old) => {
          const ids = await idsNamed(old.name);
          const successor = ids.find((id) => id !== old.id) ?? '';

          expect(await statusWith(old.key)).toBe(200);
          await expect(rotateKey(await newTarget(), old.id, DAY_MS)).rejects.toThrow(`to ${successor} already`);
          expect(await statusWith((await rotateKey(await newTarget(), successor, DAY_MS)).key)).toBe(200);
          expect(await leftToSync()).toEqual(NOTHING);
        },
      );
    },
    90_000,
  );
});

async function revoke(target: Target, { id }: NewKey): Promise<void> {
  await revokeKey(target, await findDoomedKey(target, id));
}

describe('keys revoke, cut off anywhere', () => {
  test.each([
    ['on a plan of the catalogue', free],
    ['with a usage plan of its own', enterprise],
  ])(
    'leaves nothing behind once it was run again: %s',
    async (_, orderOf) => {
      await atEachCut(
        async () => createKey(await newTarget(), orderOf(newName())),
        revoke,
        async (created) => {
          await revokeIfThere(await newTarget(), created.id);
          expect(await statusWith(created.key)).toBe(401);
          expect(await idsNamed(created.name)).toEqual([]);
          expect(await ownPlansOf(created.name)).toEqual([]);
          // The next sync removes the record that kept it from coming back.
          await leftToSync();
          expect(await onlooker.keyTable.get(hashApiKey(created.key))).toBeUndefined();
          expect(await leftToSync()).toEqual(NOTHING);
        },
      );
    },
    60_000,
  );
});

describe('keys suspend and keys resume, cut off anywhere', () => {
  test('are completed by running them again', async () => {
    await atEachCut(
      async () => createKey(await newTarget(), free(newName())),
      (target, { id }) => suspendKey(target, id, undefined),
      async ({ id, key }) => {
        await suspendKey(await newTarget(), id, undefined);
        expect(await statusWith(key)).toBe(401);
        const cut = await newTarget();
        cutNetwork(cut, 5, 'before');
        await expect(resumeKey(cut, id)).rejects.toThrow(NETWORK_CUT);
        await resumeKey(await newTarget(), id);
        expect(await statusWith(key)).toBe(200);
        expect(await leftToSync()).toEqual(NOTHING);
      },
    );
  }, 60_000);
});
