import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { NEVER, workingToken } from '../../shared/keys/working-token.ts';
import { type CountedVerdict, type Refusal, tightest, windowsOf } from '../../shared/keys/verdict.ts';
import { endOfDay, endOfMinute, isSameDay, minuteOf } from '../../shared/keys/window.ts';
import { KeyTimeline, type Version } from './key-timeline.ts';
import { type LimiterHistory, MAX_AHEAD_MS, type ToldVerdict } from './limiter-schedule.ts';

/** An environment acts on what it remembers for this long, in milliseconds of request time. */
const REMEMBERED_MS = 1_000;

/** What clients were told that the table does not bear out: nothing, so it is hoped. */
export function violationsOfLimiter({ told, commits }: LimiterHistory): string[] {
  const timeline = new KeyTimeline(commits);
  const answered = told.toSorted((a, b) => a.answeredAt - b.answeredAt);
  return [
    ...answered.flatMap((request) => violationsOfRequest(request, timeline)),
    ...violationsOfLimits(answered, timeline),
    ...[...timeline.versions].flatMap(([recordId, versions]) => {
      const own = answered.filter(({ token }) => token.recordId === recordId);
      return violationsOfCounters(own, versions).concat(violationsOfSuspensions(own, versions));
    }),
  ];
}

function violationsOfRequest(request: ToldVerdict, timeline: KeyTimeline): string[] {
  const { outcome, epoch, token, answeredAt, troubles, writer } = request;
  const violations = timeline.writesOf(token.recordId, writer).flatMap((write) => violationsOfWrite(request, write));
  if (outcome.kind === 'failed')
    return troubles > 0
      ? violations
      : [...violations, about(request, `failed with no fault: ${String(outcome.error)}`)];
  // Each moment at which what it was told by may have been read.
  const states = timeline.states(token.recordId, sinceOf(request), answeredAt);
  const valid = states.filter((key) => isValid(key, request));
  if (outcome.kind === 'denied')
    return valid.length < states.length ? violations : [...violations, about(request, 'denied a valid key')];
  const isTrue = valid.some((key) => {
    if (outcome.kind === 'refused') return isRefused(key, outcome, epoch);
    return key.suspendedUntil <= Math.max(epoch, answeredAt);
  });
  const what =
    outcome.kind === 'admitted'
      ? 'admitted a token, or a key, that was not good'
      : `refused for no reason: ${outcome.reason}`;
  const headers = violationsOfHeaders(request, outcome, states);
  return [...violations, ...headers, ...(isTrue ? [] : [about(request, what)])];
}

/** Whatever it was answered, a request changes a key only if its token opens it and the counters allow it at that moment. */
function violationsOfWrite(
  request: ToldVerdict,
  { found, left }: { found: KeyRecord | undefined; left: KeyRecord },
): string[] {
  if (!isValid(found, request)) return [about(request, 'changed a key that its token does not open')];
  const isSameMinute = found.currentMinute === left.currentMinute;
  const usedBefore = isSameMinute ? found.minuteUsed : 0;
  const refusedBefore = isSameMinute ? found.minuteRefused : 0;
  const dayUsedBefore = isSameDay(found.currentMinute, left.currentMinute) ? found.dayUsed : 0;
  const isFull = usedBefore >= found.perMinute || dayUsedBefore >= found.perDay;
  const faults = {
    'began a minute that is not there yet':
      !isSameMinute && left.currentMinute > minuteOf(request.answeredAt + MAX_AHEAD_MS),
    'took more than the minute has': left.minuteUsed > Math.max(usedBefore, found.perMinute),
    'took more than the day has': left.dayUsed > Math.max(dayUsedBefore, found.perDay),
    'was counted as refused, with room': left.minuteRefused > refusedBefore && !isFull,
    'suspended a key that was not refused often':
      left.suspendedUntil > found.suspendedUntil && found.minuteRefused < found.perMinute,
  };
  return Object.entries(faults).flatMap(([what, isSo]) => (isSo ? about(request, what) : []));
}

/** The earliest time whose state of the key the request may have been answered by: a lease is good for a second. */
const sinceOf = ({ epoch, invokedAt }: ToldVerdict): number =>
  Math.min(epoch, invokedAt) - REMEMBERED_MS - MAX_AHEAD_MS;

/** Whether a key may be used at all, with the token of a request. */
function isValid(key: KeyRecord | undefined, { token, epoch }: ToldVerdict): key is KeyRecord {
  if (!key) return false;
  const { enabled, revoked, suspendedUntil, expiresAt = NEVER } = key;
  const isOpen = enabled && !revoked && suspendedUntil < NEVER && expiresAt > epoch;
  return isOpen && workingToken(key, token.hash, epoch) !== undefined;
}

function isRefused(key: KeyRecord, { reason, key: told }: Refusal, epoch: number): boolean {
  if (reason === 'suspended') return key.suspendedUntil > epoch;
  if (reason === 'day') return isSameDay(key.currentMinute, told.currentMinute) && key.dayUsed >= key.perDay;
  return key.currentMinute === told.currentMinute && key.minuteUsed >= key.perMinute;
}

function violationsOfHeaders(
  request: ToldVerdict,
  outcome: CountedVerdict,
  states: readonly (KeyRecord | undefined)[],
): string[] {
  const { key } = outcome;
  const rateLimit = tightest(windowsOf(outcome));
  const { limit, remaining, resetsAt } = rateLimit;
  const limits = states.flatMap((state) => (state ? [state.perMinute, state.perDay] : []));
  const ends = [endOfMinute(key.currentMinute), endOfDay(key.currentMinute)];
  const isSuspended = outcome.kind === 'refused' && outcome.reason === 'suspended';
  const isRight =
    limits.includes(limit) &&
    [limit, remaining, resetsAt].every(Number.isInteger) &&
    remaining >= 0 &&
    remaining <= limit &&
    // One that a wrong clock has counted far ahead goes on there, as soon as that is not so far any more.
    (key.currentMinute <= minuteOf(request.answeredAt + MAX_AHEAD_MS) ||
      states.some((state) => state?.currentMinute === key.currentMinute)) &&
    (isSuspended || (ends.includes(resetsAt) && key.currentMinute >= minuteOf(request.epoch)));
  return isRight ? [] : [about(request, `told ${JSON.stringify(rateLimit)} in minute ${key.currentMinute}`)];
}

/** No more were told that they are admitted, in any window, than the limit that was in force. */
function violationsOfLimits(answered: readonly ToldVerdict[], timeline: KeyTimeline): string[] {
  const violations: string[] = [];
  const told = new Map<string, number[]>();
  for (const request of answered) {
    const { outcome } = request;
    if (outcome.kind !== 'admitted') continue;
    const { key } = outcome;
    const rateLimit = tightest(windowsOf(outcome));
    const states = timeline.states(key.recordId, sinceOf(request), request.answeredAt);
    for (const [name, end] of [
      ['perMinute', endOfMinute(key.currentMinute)],
      ['perDay', endOfDay(key.currentMinute)],
    ] as const) {
      const limit = Math.max(...states.map((state) => state?.[name] ?? 0));
      const window = `${key.recordId}, ${name} until ${end}`;
      const times = told.get(window) ?? [];
      told.set(window, times);
      // What an environment remembers knows nothing of those that others have admitted since.
      const known = times.filter((time) => time < sinceOf(request)).length;
      if (rateLimit.resetsAt === end && rateLimit.remaining + known >= Math.max(limit, rateLimit.limit))
        violations.push(about(request, `told ${rateLimit.remaining} of ${limit} after ${known} others in ${window}`));
      const count = times.push(request.answeredAt);
      if (count > limit) violations.push(about(request, `is number ${count} of ${limit} in ${window}`));
    }
  }
  return violations;
}

/** The counter of a minute is never behind what was admitted in it, and not ahead of it where nothing went wrong. */
function violationsOfCounters(own: readonly ToldVerdict[], versions: readonly Version[]): string[] {
  const wentWrong = own.some(({ troubles }) => troubles > 0);
  const largest = Math.max(...versions.map((version, index) => takes(versions[index - 1], version)));
  // Each environment may hold a lease whose minute is over; one may have been larger by what it gave back.
  const leased = largest > 1 ? 2 * largest * new Set(own.map(({ environment }) => environment)).size : 0;
  const admitted = own.flatMap(({ outcome, answeredAt }) =>
    outcome.kind === 'admitted' ? { answeredAt, minute: outcome.key.currentMinute } : [],
  );
  return versions.flatMap(({ at, key: { currentMinute, minuteUsed, perMinute } }, index): string[] => {
    const next = versions[index + 1];
    const isLast = next?.key.currentMinute !== currentMinute;
    // Nothing is taken back later, so it is enough to look where the counter is lowered, or left for good.
    if (!isLast && next.key.minuteUsed >= minuteUsed) return [];
    const ofMinute = admitted.filter(({ minute }) => minute === currentMinute);
    const soFar = ofMinute.filter(({ answeredAt }) => answeredAt <= (next?.at ?? Infinity)).length;
    const isAhead = isLast && !wentWrong && minuteUsed > ofMinute.length + leased;
    const what = `At ${at} the counter of minute ${currentMinute} was ${minuteUsed} of ${perMinute}`;
    return minuteUsed < soFar || isAhead ? [`${what}, with ${soFar} admitted, ${ofMinute.length} in the end`] : [];
  });
}

/** Requests that a change of a key took from the same minute. */
function takes(before: Version | undefined, { key }: Version): number {
  const used = before?.key.currentMinute === key.currentMinute ? before.key.minuteUsed : 0;
  return Math.abs(key.minuteUsed - used);
}

const about = ({ environment, invokedAt, answeredAt, epoch, token }: ToldVerdict, what: string): string =>
  `Environment ${environment}, from ${invokedAt} to ${answeredAt}, epoch ${epoch}, key ${token.recordId.slice(-16, -8)}, token ${token.hash.slice(0, 8)}: ${what}`;

/** Refusals are counted this late at most, in milliseconds: a second of memory, and what the clocks differ by. */
const COUNTED_AFTER_MS = 2_000;
/** A request that is later than this is taken for one that came late: it may be answered by what is long remembered. */
const PROMPT_MS = 100;

/**
 * A key is suspended once it was refused as often within a minute as it may make requests: not before, and where nothing
 * goes wrong and no admin changes it, not much later.
 *
 * @param own the requests of one key
 */
function violationsOfSuspensions(own: readonly ToldVerdict[], versions: readonly Version[]): string[] {
  const isCalm = own.every(({ troubles }) => troubles === 0);
  const isLeftAlone = versions.every(({ writer }, index) => index === 0 || writer !== 'admin');
  const early = versions.filter((version, index) => isSuspendedTooEarly(version, versions[index - 1], own));
  return [
    ...early.map(({ at, key }) => `At ${at} a key of ${key.perMinute} a minute was suspended too early`),
    ...(isCalm && isLeftAlone ? refusedTooOften(own) : []),
  ];
}

function isSuspendedTooEarly(
  { at, writer, key }: Version,
  before: Version | undefined,
  own: readonly ToldVerdict[],
): boolean {
  if (writer === 'admin' || key.suspendedUntil <= (before?.key.suspendedUntil ?? 0)) return false;
  const earlier = own.filter(({ invokedAt }) => invokedAt <= at);
  // Whoever was not told yet may have been refused, and a write whose answer was lost may have counted twice.
  const refused = earlier.filter(
    ({ outcome, answeredAt }) =>
      answeredAt >= at ||
      outcome.kind === 'failed' ||
      (outcome.kind === 'refused' && outcome.key.currentMinute === key.currentMinute),
  ).length;
  const repeated = earlier.reduce((sum, { troubles }) => sum + troubles, 0);
  return refused + repeated < key.perMinute;
}

/** Those that were refused by the limit although the key had been refused so often that it should be suspended. */
function refusedTooOften(own: readonly ToldVerdict[]): string[] {
  const refusals = own.flatMap(({ outcome, environment, answeredAt, epoch, invokedAt }) =>
    outcome.kind === 'refused' && outcome.reason !== 'suspended' && epoch > invokedAt - PROMPT_MS
      ? { environment, answeredAt, minute: outcome.key.currentMinute, perMinute: outcome.key.perMinute }
      : [],
  );
  return refusals.flatMap((last) => {
    const before = refusals.filter(
      ({ minute, answeredAt }) => minute === last.minute && answeredAt < last.answeredAt - COUNTED_AFTER_MS,
    );
    // What an environment has refused is counted at the latest when it refuses another request much later.
    const counted = before.filter(({ environment, answeredAt }) =>
      before.some((later) => later.environment === environment && later.answeredAt - COUNTED_AFTER_MS > answeredAt),
    );
    const what = `a key of ${last.perMinute} a minute was not suspended after ${counted.length} refusals`;
    return counted.length < last.perMinute ? [] : [`At ${last.answeredAt} ${what}`];
  });
}
