import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminError } from '../../../infra/admin/admin-error.ts';
import type { NewToken } from '../../../infra/admin/keys/new-token.ts';
import { gatewayTags, UNDER_WAY_MS } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { MAIN_LABEL } from '../../../shared/key-registry/key-tokens.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import type { Token } from '../../../shared/keys/token.ts';
import {
  type CommandName,
  commands,
  InProcessTarget,
  issueSubject,
  NAME,
  OTHER_LABEL,
  type Start,
  sync,
} from '../../support/in-process-target.ts';
import { parsed } from '../../support/tables.ts';

/** The call of `keys resume` that reads the record: what is closed before it, it resumes. */
const READ_OF_RESUME = 2;

const world = new InProcessTarget();

/** How far the clock is ahead. */
let aheadMs = 0;
const { now: realNow } = Date;
beforeAll(() => {
  Date.now = () => realNow() + aheadMs;
});
afterAll(() => {
  Date.now = realNow;
});
afterAll(() => world.close());

/** What an admin is shown in the end. */
type Outcome = { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed' | 'killed' };

class KilledError extends Error {
  override readonly name = 'KilledError';
}

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
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
  /** The first one does not go on, and is run again, once it is surely not under way any more. */
  readonly isCut: boolean;
}

interface Ending extends Pair {
  readonly at: number;
  readonly subject: KeyRecord;
  /** The key that the second command was about. */
  readonly aimedAt: string;
  /** What the first command came to: where it was cut off, the second try. */
  readonly outcome: Outcome;
  readonly secondOutcome: Outcome;
}

/** @returns undefined where the first command makes fewer calls */
async function stopAt(pair: Pair, at: number): Promise<Ending | undefined> {
  world.reset();
  aheadMs = 0;
  const subject = await issueSubject(world, pair.start);
  const run = (name: CommandName, id: string) => outcomeOf(commands[name](world.target, id, subject));
  let calls = 0;
  let aimedAt = subject.keyId;
  let secondOutcome: Outcome | undefined;
  const outcome = await outcomeOf(
    world.run<unknown>(
      () => commands[pair.first](world.target, subject.keyId, subject),
      async () => {
        calls += 1;
        if (calls === at) {
          // The key that is being made, as soon as it is there.
          const made = world.records.apiKeys.find(({ id, name }) => name === NAME && id !== subject.keyId);
          if (pair.first.startsWith('create') && made) aimedAt = made.id;
          secondOutcome = await run(pair.second, aimedAt);
        }
        if (calls >= at && pair.isCut) throw new KilledError();
      },
    ),
  );
  if (!secondOutcome) return undefined;
  const ending = { ...pair, at, subject, aimedAt, secondOutcome };
  if (!pair.isCut) return { ...ending, outcome };
  aheadMs = UNDER_WAY_MS + 1_000;
  return { ...ending, outcome: await run(pair.first, subject.keyId) };
}

const isDone = (outcome: Outcome): boolean => outcome.kind === 'done';
const isNewToken = (result: unknown): result is NewToken =>
  typeof result === 'object' && result !== null && 'confirmShown' in result;
const shownBy = (outcome: Outcome): NewToken[] =>
  outcome.kind === 'done' && isNewToken(outcome.result) ? [outcome.result] : [];

const CLOSING = /suspend|revoke/;

async function check(ending: Ending): Promise<void> {
  // A sync has nothing left to do, and nothing to complain of.
  const { unchanged: _, keysInAccount: __, ...left } = await sync(world.target);
  expect(left).toEqual({ added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] });

  const records = new Map((await world.keys()).map((record) => [record.keyId, record]));
  await checkSubject(ending, records.get(ending.subject.keyId));
  await checkTokens(ending);
  await checkShown(ending, records);
  checkGateway(ending, records);
}

/** Whether a command was done on the key that was there at the start. */
const didOf =
  ({ first, second, subject, aimedAt, outcome, secondOutcome }: Ending) =>
  (...names: CommandName[]): boolean =>
    (names.includes(first) && isDone(outcome)) ||
    (names.includes(second) && isDone(secondOutcome) && aimedAt === subject.keyId);

/** The token of a label that the key had at the start. */
function tokenLabelled({ recordId, tokens }: KeyRecord, label: string): Token {
  const [hash = ''] = Object.entries(tokens).find(([, token]) => token.label === label && token.until === NEVER) ?? [];
  return { recordId, hash, usageIdentifier: recordId };
}

/** Closed stays closed, and what was not closed works. */
async function checkSubject(ending: Ending, record: KeyRecord | undefined): Promise<void> {
  const { first, second, start, at, isCut, subject, outcome } = ending;
  const { keyId } = subject;
  const did = didOf(ending);
  const wasResumedAfterwards = first === 'resume' && (at <= READ_OF_RESUME || isCut) && isDone(outcome);
  const now = await world.verdict(tokenLabelled(subject, OTHER_LABEL));
  if (did('revoke')) {
    expect({ revoked: record?.revoked, isThere: world.records.apiKey(keyId) !== undefined, now }).toEqual({
      revoked: true,
      isThere: false,
      now: 'denied',
    });
  } else if (did('suspend') && !wasResumedAfterwards) {
    expect({ until: record?.suspendedUntil, now }).toEqual({ until: NEVER, now: 'denied' });
  } else if (did('suspend for a while') && !wasResumedAfterwards) {
    expect({ isSuspended: (record?.suspendedUntil ?? 0) > Date.now(), isAdmitted: now === 'admitted' }).toEqual({
      isSuspended: true,
      isAdmitted: false,
    });
  } else if (did('resume') || (start !== 'suspended' && ![first, second].some((name) => CLOSING.test(name)))) {
    expect(now).toBe('admitted');
  }
}

/** Of a key that is open: what was ended is refused, and what was rotated or left alone works. */
async function checkTokens(ending: Ending): Promise<void> {
  const { subject } = ending;
  const did = didOf(ending);
  if ((await world.verdict(tokenLabelled(subject, OTHER_LABEL))) !== 'admitted') return;
  const isEnded = did('end', 'rotate at once');
  expect(await world.verdict(tokenLabelled(subject, MAIN_LABEL))).toBe(isEnded ? 'denied' : 'admitted');
}

/** A token that an admin was shown works, and is what it was said to be, unless it was closed, ended or moved afterwards. */
async function checkShown(ending: Ending, records: ReadonlyMap<string, KeyRecord>): Promise<void> {
  const { first, second, subject, outcome, secondOutcome } = ending;
  const did = didOf(ending);
  const works: boolean[] = [];
  for (const { id, key, label, plan } of [...shownBy(outcome), ...shownBy(secondOutcome)]) {
    const record = records.get(id);
    if (![first, second].some((name) => name.startsWith('move'))) expect(record?.plan).toBe(plan);
    const isClosed = !record?.enabled || record.suspendedUntil > Date.now();
    if (isClosed) expect([first, second].some((name) => CLOSING.test(name))).toBe(true);
    else if (label !== MAIN_LABEL && did('end what is added') && id === subject.keyId)
      expect(await world.verdict(parsed(key))).toBe('denied');
    else works.push((await world.verdict(parsed(key))) === 'admitted');
  }
  // One of two rotations may have ended the token that the other has shown.
  const areAllToWork = !did('rotate at once');
  expect(works.length === 0 || (areAllToWork ? works.every(Boolean) : works.some(Boolean))).toBe(true);
}

/** Every key is known, or closed; each is on one plan, with the tags that its record asks for; nothing is half made. */
function checkGateway(
  { isCut, subject, outcome, secondOutcome }: Ending,
  records: ReadonlyMap<string, KeyRecord>,
): void {
  const { records: gateway } = world;
  const known = new Set([subject.keyId, ...[...shownBy(outcome), ...shownBy(secondOutcome)].map(({ id }) => id)]);
  const wrong = gateway.apiKeys.flatMap(({ id, enabled, tags }) => {
    const record = records.get(id);
    const isClosed = record !== undefined && record.suspendedUntil >= NEVER;
    const plans = gateway.plansOfKey(id).map((plan) => plan.tags[gatewayTags.plan]);
    const isUnknown = !known.has(id);
    if (isUnknown && isClosed) return [];
    const isInOrder =
      plans.length === 1 && plans[0] === record?.plan && enabled === !isClosed && (isCut || !record?.busy);
    const hasTags = isDeepStrictEqual({ ...tags }, Object.fromEntries(tagsOf(record)));
    return isUnknown || !isInOrder || !hasTags ? [{ id, isUnknown, plans, enabled, tags, record }] : [];
  });
  expect(wrong).toEqual([]);
}

/** The tags of a key, by its record. */
function tagsOf({ plan, perMinute, perDay, tokensEndedAt }: Partial<KeyRecord> = {}): [string, string][] {
  const limits: [string, string][] = [
    [gatewayTags.perDay, String(perDay)],
    [gatewayTags.perMinute, String(perMinute)],
  ];
  const ended = tokensEndedAt === undefined ? '' : new Date(tokensEndedAt).toISOString();
  return [
    ...(plan === 'enterprise' ? limits : []),
    ...(ended === '' ? [] : [[gatewayTags.tokensEnded, ended] as [string, string]]),
  ];
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

const all = ['create', 'move to Pro', 'rotate', 'add', 'end', 'suspend', 'resume', 'revoke', 'sync'] as const;

test.each(all)(
  '%s: what another admin closes at the same time stays closed, and nothing is left half made',
  async (first) => {
    const start = (second: CommandName): Start => (first === 'resume' || second === 'resume' ? 'suspended' : 'open');
    const pairs = all.map((second) => ({ first, second, start: start(second), isCut: false }));
    // Whatever else happens, it can be run again.
    const cuts = (['sync', 'revoke'] as const).map((second) => {
      return { first, second, start: start(second), isCut: true };
    });

    expect(await runAll([...pairs, ...cuts])).toBeGreaterThan(pairs.length);
  },
  120_000,
);

describe('the same of', () => {
  test.each<[CommandName, Start, readonly CommandName[]]>([
    ['create for Enterprise', 'open', ['suspend', 'revoke', 'rotate']],
    ['move to Enterprise', 'open', ['revoke', 'move to Pro', 'sync']],
    ['move to Enterprise', 'on Enterprise', ['move to Pro', 'move to Enterprise']],
    ['move to Pro', 'on Enterprise', ['move to Enterprise', 'sync']],
    ['suspend for a while', 'open', ['suspend', 'rotate', 'move to Pro']],
    ['rotate', 'open', ['suspend for a while', 'move to Enterprise', 'rotate at once']],
    ['rotate at once', 'open', ['rotate', 'rotate at once', 'end', 'add']],
    ['rotate at once', 'rotated before', ['rotate at once', 'end', 'suspend']],
    ['add', 'open', ['end what is added', 'suspend for a while']],
    ['end', 'rotated before', ['rotate at once', 'rotate']],
  ])(
    '%s (%s)',
    async (first, start, seconds) => {
      const pairs = seconds.map((second) => ({ first, second, start, isCut: false }));

      expect(await runAll([...pairs, { first, second: 'sync', start, isCut: true }])).toBeGreaterThan(pairs.length);
    },
    120_000,
  );
});
