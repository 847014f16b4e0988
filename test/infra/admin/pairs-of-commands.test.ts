import { afterAll, describe, expect, test } from '@jest/globals';
import { AdminError } from '../../../infra/admin/admin-error.ts';
import { outlastMemory } from '../../../infra/admin/keys/change-record.ts';
import type { NewKey } from '../../../infra/admin/keys/create-key.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { LEASE_MS } from '../../../shared/keys/remembered-key.ts';
import {
  type CommandName,
  commands,
  InProcessTarget,
  issueSubject,
  NAME,
  type Start,
} from '../../support/in-process-target.ts';

/** Calls of `keys resume` until it has read the key that it goes by. */
const READ_BY_RESUME = 2;

const world = new InProcessTarget();

afterAll(() => world.close());

/** What an admin is told in the end. */
type Outcome = { readonly kind: 'done'; readonly result: object } | { readonly kind: 'failed' | 'killed' };

class KilledError extends Error {
  override readonly name = 'KilledError';
}

async function outcomeOf(work: Promise<object>): Promise<Outcome> {
  try {
    return { kind: 'done', result: await work };
  } catch (error) {
    if (error instanceof AdminError) return { kind: 'failed' };
    if (error instanceof KilledError) return { kind: 'killed' };
    throw error;
  }
}

/** A command that is stopped before one of its calls, while the second one runs whole. */
interface Pair {
  readonly first: CommandName;
  readonly second: CommandName;
  readonly start: Start;
  /** The first one does not go on, and is run again. */
  readonly isCut: boolean;
}

interface Ending extends Pair {
  readonly at: number;
  readonly subject: KeyRecord;
  /** The key that the second command was about. */
  readonly aimedAt: string;
  /** What the first command said: where it was cut off, the second try. */
  readonly said: Outcome;
  readonly secondSaid: Outcome;
}

/** @returns undefined where the first command makes fewer calls */
async function stopAt(pair: Pair, at: number): Promise<Ending | undefined> {
  world.reset();
  const subject = await issueSubject(world, pair.start);
  const run = (name: CommandName, id: string) => outcomeOf(commands[name](world.target, id));
  let calls = 0;
  let aimedAt = subject.keyId;
  let secondSaid: Outcome | undefined;
  const said = await outcomeOf(
    world.run<object>(
      () => commands[pair.first](world.target, subject.keyId),
      async () => {
        calls += 1;
        if (calls === at) {
          // The key that is being made, as soon as it is there.
          const made = world.records.apiKeys.find(({ id, name }) => name === NAME && id !== subject.keyId);
          if (pair.first.startsWith('create') && made) aimedAt = made.id;
          secondSaid = await run(pair.second, aimedAt);
        }
        if (calls >= at && pair.isCut) throw new KilledError();
      },
    ),
  );
  if (!secondSaid) return undefined;
  const ending = { ...pair, at, subject, aimedAt, secondSaid };
  return { ...ending, said: pair.isCut ? await run(pair.first, subject.keyId) : said };
}

const isDone = (outcome: Outcome): boolean => outcome.kind === 'done';
const isNewKey = (result: object): result is NewKey => 'key' in result;
const shownBy = (outcome: Outcome): NewKey[] =>
  outcome.kind === 'done' && isNewKey(outcome.result) ? [outcome.result] : [];

async function check(ending: Ending): Promise<void> {
  const { target } = world;
  // A sync has nothing left to do, and nothing to complain of.
  const { unchanged: _, keysInAccount: __, ...left } = await syncKeys(target.gateway, target.keyTable, target.apiStage);
  expect(left).toEqual({ added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] });

  const records = new Map((await world.keys()).map((record) => [record.keyHash, record]));
  await checkSubject(ending, records.get(ending.subject.keyHash));
  await checkShown(ending, records);
  checkGateway(ending, records);
}

/** Closed stays closed, and what nobody has closed works. */
async function checkSubject(
  { first, second, start, at, isCut, subject, aimedAt, said, secondSaid }: Ending,
  record: KeyRecord | undefined,
): Promise<void> {
  const { keyId } = subject;
  const did = (name: CommandName): boolean =>
    (first === name && isDone(said)) || (second === name && isDone(secondSaid) && aimedAt === keyId);
  const wasResumedAfterwards = first === 'resume' && (at <= READ_BY_RESUME || isCut) && isDone(said);
  const now = await world.verdict(subject.keyHash);
  if (did('revoke')) {
    expect({ revoked: record?.revoked, isThere: world.records.apiKey(keyId) !== undefined, now }).toEqual({
      revoked: true,
      isThere: false,
      now: 'denied',
    });
  } else if (did('suspend') && !wasResumedAfterwards) {
    expect({ until: record?.suspendedUntil, now }).toEqual({ until: UNTIL_RESUMED, now: 'denied' });
  } else if (did('suspend for a while') && !wasResumedAfterwards) {
    expect({ isSuspended: (record?.suspendedUntil ?? 0) > Date.now(), isAdmitted: now === 'admitted' }).toEqual({
      isSuspended: true,
      isAdmitted: false,
    });
  } else if (did('resume') || (start !== 'suspended' && ![first, second].some((name) => /suspend|revoke/.test(name)))) {
    expect(now).toBe('admitted');
  }
}

/** A key that an admin was shown works, and is what it was said to be, unless it was closed or moved afterwards. */
async function checkShown({ first, said, secondSaid }: Ending, records: ReadonlyMap<string, KeyRecord>): Promise<void> {
  for (const { id, key, plan } of [...shownBy(said), ...(first === 'sync' ? shownBy(secondSaid) : [])]) {
    const record = records.get(hashApiKey(key));
    expect({ id: record?.keyId, plan: record?.plan }).toEqual({ id, plan });
    expect(await world.verdict(hashApiKey(key))).not.toBe('denied');
  }
}

/** Every key is known, or closed, or waits for the next rotation; each is on one plan; nothing is half made. */
function checkGateway(
  { isCut, start, subject, said, secondSaid }: Ending,
  records: ReadonlyMap<string, KeyRecord>,
): void {
  const { records: gateway } = world;
  const known = new Set([subject.keyId, ...[...shownBy(said), ...shownBy(secondSaid)].map(({ id }) => id)]);
  if (start === 'rotated before')
    for (const { keyId, replacedBy } of records.values()) if (replacedBy) known.add(keyId);
  const wrong = gateway.apiKeys.flatMap(({ id, value, enabled, tags }) => {
    const record = records.get(value);
    const isClosed = record !== undefined && record.suspendedUntil >= UNTIL_RESUMED;
    const plans = gateway.plansOfKey(id).map((plan) => plan.tags[gatewayTags.plan]);
    const isUnknown = !known.has(id);
    if (isUnknown && (isCut || isClosed)) return [];
    const isInOrder =
      plans.length === 1 && plans[0] === record?.plan && enabled === !isClosed && !tags[gatewayTags.moving];
    return isUnknown || !isInOrder ? [{ id, isUnknown, plans, enabled, tags, record }] : [];
  });
  const ownPlans = gateway.usagePlans.filter(({ tags }) => gatewayTags.ownPlanOf in tags);
  const halfMade = ownPlans.filter(
    ({ id, tags }) => gatewayTags.unfinished in tags || gateway.keysOnPlan(id).length === 0,
  );
  expect({ wrong, halfMade: isCut ? [] : halfMade }).toEqual({ wrong: [], halfMade: [] });
}

/** All pairs from a start, each stopped before each call of its first command. @returns how many were run */
async function runAll(pairs: readonly Pair[]): Promise<number> {
  let runs = 0;
  for (const pair of pairs) {
    const { first, second, start, isCut } = pair;
    for (let at = 1; ; at++) {
      try {
        const ending = await stopAt(pair, at);
        if (!ending) break;
        await check(ending);
        runs += 1;
      } catch (error) {
        const how = isCut ? 'cut off before' : 'stopped before';
        throw new Error(`${first}, ${how} call ${at}, while ${second} ran (${start})`, { cause: error });
      }
    }
  }
  return runs;
}

const all = ['create', 'move to Pro', 'rotate', 'suspend', 'resume', 'revoke', 'sync'] as const;

test.each(all)(
  '%s: what another admin closes at the same time stays closed, and nothing is left half made',
  async (first) => {
    const start = (second: CommandName): Start => (first === 'resume' || second === 'resume' ? 'suspended' : 'open');
    const pairs = all.map((second) => ({ first, second, start: start(second), isCut: false }));
    // Whatever else happens, it can be run again.
    const cuts = (['sync', 'suspend', 'revoke'] as const).map((second) => {
      return { first, second, start: start(second), isCut: true };
    });

    expect(await runAll([...pairs, ...cuts])).toBeGreaterThan(pairs.length);
  },
  120_000,
);

describe('the same of', () => {
  test.each<[CommandName, Start, readonly CommandName[]]>([
    ['create for Enterprise', 'open', ['suspend', 'revoke', 'move to Pro', 'rotate']],
    ['move to Enterprise', 'open', ['suspend', 'revoke', 'move to Pro', 'rotate', 'sync']],
    ['move to Enterprise', 'with its own plan', ['move to Pro', 'move to Enterprise', 'revoke']],
    ['move to Pro', 'with its own plan', ['suspend', 'revoke', 'move to Enterprise', 'rotate']],
    ['move to Pro', 'rotated before', ['revoke', 'sync']],
    ['suspend for a while', 'open', ['suspend', 'rotate', 'move to Pro']],
    ['suspend', 'rotated before', ['rotate', 'revoke']],
    ['revoke', 'rotated before', ['rotate', 'move to Pro', 'sync']],
    ['rotate', 'with its own plan', ['move to Enterprise', 'suspend', 'revoke']],
    ['rotate', 'open', ['suspend for a while', 'move to Enterprise']],
  ])(
    '%s (%s)',
    async (first, start, seconds) => {
      const pairs = seconds.map((second) => ({ first, second, start, isCut: false }));

      expect(await runAll([...pairs, { first, second: 'sync', start, isCut: true }])).toBeGreaterThan(pairs.length);
    },
    120_000,
  );
});

test.each([
  ['longer than a lease', 0, LEASE_MS],
  ['less where the key goes on as it was for a while', LEASE_MS, 0],
])('A command that changes a key waits %s', async (_, grace, atLeast) => {
  const waits: number[] = [];
  await outlastMemory({ pause: (ms) => Promise.resolve(void waits.push(ms)) }, grace);

  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThan(atLeast);
  expect(waits[0]).toBeLessThan(atLeast + LEASE_MS);
});
