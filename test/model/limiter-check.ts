import type { KeyRecord } from '../../shared/keys/key-record.ts';
import {
  type CountedVerdict,
  NEVER,
  type Refusal,
  tightest,
  windowsOf,
  workingToken,
} from '../../shared/keys/verdict.ts';
import { endOfDay, endOfMinute, isSameDay, minuteOf } from '../../shared/keys/window.ts';
import { type LimiterHistory, type LimiterRequest, MAX_AHEAD_MS } from './limiter-schedule.ts';
import { recordOf } from './virtual-table.ts';

/** An environment acts on what it remembers for this long, in milliseconds of request time. */
const REMEMBERED_MS = 1_000;
/** Refusals are counted this late at most, in milliseconds: a second of memory, and the difference of the clocks. */
const COUNTED_AFTER_MS = 2_000;
/** A request that is later than this may be answered from what was remembered long ago. */
const PROMPT_MS = 100;

/** The record of a key after a write. */
interface Version {
  readonly at: number;
  readonly writer: string;
  readonly key: KeyRecord;
  readonly before: KeyRecord | undefined;
}

/** Answers that the table does not bear out; none where all is well. */
export function violationsOfLimiter({ requests, commits }: LimiterHistory): string[] {
  const versions = commits.map(({ at, writer, before, after }): Version => {
    return { at, writer, key: recordOf(after), before: before && recordOf(before) };
  });
  const byKey = Map.groupBy(versions, ({ key }) => key.recordId);
  const answered = requests.toSorted((a, b) => a.answeredAt - b.answeredAt);
  return [...Map.groupBy(answered, ({ token }) => token.recordId)].flatMap(([recordId, own]) => {
    const ownVersions = byKey.get(recordId) ?? [];
    return own
      .flatMap((request) => violationsOfRequest(request, ownVersions, own))
      .concat(violationsOfLimits(own, ownVersions))
      .concat(violationsOfCounters(own, ownVersions))
      .concat(violationsOfSuspensions(own, ownVersions));
  });
}

/** The key as it was at each moment at which the data behind an answer may have been read; undefined: it was absent. */
function statesBehind(request: LimiterRequest, versions: readonly Version[]): (KeyRecord | undefined)[] {
  const since = sinceOf(request);
  const before = versions.findLast(({ at }) => at <= since);
  return [before, ...versions.filter(({ at }) => at > since && at <= request.answeredAt)].map(
    (version) => version?.key,
  );
}

/** The earliest of these moments: what an environment remembers is good for a second. */
const sinceOf = ({ epoch, invokedAt }: LimiterRequest): number =>
  Math.min(epoch, invokedAt) - REMEMBERED_MS - MAX_AHEAD_MS;

function violationsOfRequest(
  request: LimiterRequest,
  versions: readonly Version[],
  own: readonly LimiterRequest[],
): string[] {
  const { outcome, writer } = request;
  const ofWrites = versions.flatMap((version) =>
    version.writer === writer ? violationsOfWrite(request, version) : [],
  );
  if (outcome.kind === 'failed')
    return hasReason(request, own)
      ? ofWrites
      : [...ofWrites, about(request, `failed with no fault: ${String(outcome.error)}`)];
  const states = statesBehind(request, versions);
  const valid = states.filter((key) => isValid(key, request));
  if (outcome.kind === 'denied')
    return valid.length < states.length ? ofWrites : [...ofWrites, about(request, 'denied a valid key')];
  const isTrue = valid.some((key) => isTrueOf(key, outcome, request));
  const reason = outcome.kind === 'refused' ? outcome.reason : 'the token, or the key, was not valid';
  return [
    ...ofWrites,
    ...violationsOfHeaders(request, outcome, states),
    ...(isTrue ? [] : [about(request, `${outcome.kind} without reason: ${reason}`)]),
  ];
}

/** Whether a request that failed had a fault, or follows one of its environment that was throttled within a second. */
function hasReason(request: LimiterRequest, own: readonly LimiterRequest[]): boolean {
  const { outcome, environment, invokedAt, epoch } = request;
  if (request.faults > 0) return true;
  return own.some(
    (other) =>
      outcome.kind === 'failed' &&
      other.outcome.kind === 'failed' &&
      other.outcome.error === outcome.error &&
      other.faults > 0 &&
      other.environment === environment &&
      other.answeredAt <= invokedAt &&
      Math.abs(epoch - other.epoch) < REMEMBERED_MS,
  );
}

/** Whatever its answer, a request changes a key only if its token opens it and the counters allow it at that moment. */
function violationsOfWrite(request: LimiterRequest, { before, key }: Version): string[] {
  if (!isValid(before, request)) return [about(request, 'changed a key that its token does not open')];
  const isSameMinute = before.currentMinute === key.currentMinute;
  const usedBefore = isSameMinute ? before.minuteUsed : 0;
  const dayUsedBefore = isSameDay(before.currentMinute, key.currentMinute) ? before.dayUsed : 0;
  const isFull = usedBefore >= before.perMinute || dayUsedBefore >= before.perDay;
  const faults = {
    'began a minute that is not there yet':
      !isSameMinute && key.currentMinute > minuteOf(request.answeredAt + MAX_AHEAD_MS),
    'took more than the minute has': key.minuteUsed > Math.max(usedBefore, before.perMinute),
    'took more than the day has': key.dayUsed > Math.max(dayUsedBefore, before.perDay),
    'was counted as refused, with room': key.minuteRefused > (isSameMinute ? before.minuteRefused : 0) && !isFull,
    'suspended a key that was not refused often':
      key.suspendedUntil > before.suspendedUntil && before.minuteRefused < before.perMinute,
  };
  return Object.entries(faults).flatMap(([what, isSo]) => (isSo ? about(request, what) : []));
}

/** Whether a key may be used at all, with the token of a request. */
function isValid(key: KeyRecord | undefined, { token, epoch }: LimiterRequest): key is KeyRecord {
  if (!key) return false;
  const { enabled, revoked, suspendedUntil, expiresAt = NEVER } = key;
  const isOpen = enabled && !revoked && suspendedUntil < NEVER && expiresAt > epoch;
  return isOpen && workingToken(key, token.hash, epoch) !== undefined;
}

/** Whether a key in this state is the reason of a verdict. */
function isTrueOf(state: KeyRecord, verdict: CountedVerdict, { token, epoch, answeredAt }: LimiterRequest): boolean {
  const { key } = verdict;
  if (key.tokens[token.hash]?.access !== state.tokens[token.hash]?.access) return false;
  if (verdict.kind === 'admitted') return state.suspendedUntil <= Math.max(epoch, answeredAt);
  return isRefusedBy(state, verdict, epoch);
}

function isRefusedBy(state: KeyRecord, { reason, key }: Refusal, epoch: number): boolean {
  if (reason === 'suspended') return state.suspendedUntil > epoch;
  if (reason === 'day') return isSameDay(state.currentMinute, key.currentMinute) && state.dayUsed >= state.perDay;
  return state.currentMinute === key.currentMinute && state.minuteUsed >= state.perMinute;
}

function violationsOfHeaders(
  request: LimiterRequest,
  outcome: CountedVerdict,
  states: readonly (KeyRecord | undefined)[],
): string[] {
  const { currentMinute } = outcome.key;
  const rateLimit = tightest(windowsOf(outcome));
  const { limit, remaining, resetsAt } = rateLimit;
  const limits = states.flatMap((state) => (state ? [state.perMinute, state.perDay] : []));
  const isSuspended = outcome.kind === 'refused' && outcome.reason === 'suspended';
  const isWindowEnd = [endOfMinute(currentMinute), endOfDay(currentMinute)].includes(resetsAt);
  const isRight =
    limits.includes(limit) &&
    [limit, remaining, resetsAt].every(Number.isInteger) &&
    remaining >= 0 &&
    remaining <= limit &&
    currentMinute <= minuteOf(request.answeredAt + MAX_AHEAD_MS) &&
    (isSuspended || (isWindowEnd && currentMinute >= minuteOf(request.epoch)));
  return isRight ? [] : [about(request, `the headers ${JSON.stringify(rateLimit)} in minute ${currentMinute}`)];
}

/** In no window more requests of a key are admitted than the limit in force. */
function violationsOfLimits(own: readonly LimiterRequest[], versions: readonly Version[]): string[] {
  const violations: string[] = [];
  const admitted = new Map<string, number[]>();
  for (const request of own) {
    const { outcome } = request;
    if (outcome.kind !== 'admitted') continue;
    const { currentMinute } = outcome.key;
    const rateLimit = tightest(windowsOf(outcome));
    const states = statesBehind(request, versions);
    for (const [name, end] of [
      ['perMinute', endOfMinute(currentMinute)],
      ['perDay', endOfDay(currentMinute)],
    ] as const) {
      const limit = Math.max(...states.map((state) => state?.[name] ?? 0));
      const window = `${name} until ${end}`;
      const times = admitted.get(window) ?? [];
      admitted.set(window, times);
      // An environment may not know of the requests that others have admitted since it asked.
      const known = times.filter((time) => time < sinceOf(request)).length;
      if (rateLimit.resetsAt === end && rateLimit.remaining + known >= Math.max(limit, rateLimit.limit))
        violations.push(about(request, `${rateLimit.remaining} of ${limit} remain after ${known} others, ${window}`));
      const count = times.push(request.answeredAt);
      if (count > limit) violations.push(about(request, `is number ${count} of ${limit}, ${window}`));
    }
  }
  return violations;
}

/** The counter of a minute is never behind the admitted requests, and without faults not ahead of them. */
function violationsOfCounters(own: readonly LimiterRequest[], versions: readonly Version[]): string[] {
  const hasFaults = own.some(({ faults }) => faults > 0);
  const admitted = own.flatMap(({ outcome, answeredAt }) =>
    outcome.kind === 'admitted' ? { answeredAt, minute: outcome.key.currentMinute } : [],
  );
  return versions.flatMap(({ at, key: { currentMinute, minuteUsed, perMinute } }, index): string[] => {
    const next = versions[index + 1];
    const isLast = next?.key.currentMinute !== currentMinute;
    // No admission is undone, so it is enough to look where the counter is lowered, or left for good.
    if (!isLast && next.key.minuteUsed >= minuteUsed) return [];
    const ofMinute = admitted.filter(({ minute }) => minute === currentMinute);
    const soFar = ofMinute.filter(({ answeredAt }) => answeredAt <= (next?.at ?? Infinity)).length;
    const isAhead = isLast && !hasFaults && minuteUsed > ofMinute.length;
    const what = `At ${at} the counter of minute ${currentMinute} was ${minuteUsed} of ${perMinute}`;
    return minuteUsed < soFar || isAhead ? [`${what}, with ${soFar} admitted, ${ofMinute.length} in the end`] : [];
  });
}

/**
 * A key is suspended once it was refused as often within a minute as it may make requests: not before, and where there
 * are no faults and no admin changes it, not much later.
 */
function violationsOfSuspensions(own: readonly LimiterRequest[], versions: readonly Version[]): string[] {
  const early = versions.filter((version) => isSuspendedTooEarly(version, own));
  const isUndisturbed =
    own.every(({ faults }) => faults === 0) && versions.every(({ writer, before }) => !before || writer !== 'admin');
  return [
    ...early.map(({ at, key }) => `At ${at} a key of ${key.perMinute} a minute was suspended too early`),
    ...(isUndisturbed ? refusedTooOften(own) : []),
  ];
}

function isSuspendedTooEarly({ at, writer, key, before }: Version, own: readonly LimiterRequest[]): boolean {
  if (writer === 'admin' || key.suspendedUntil <= (before?.suspendedUntil ?? 0)) return false;
  const earlier = own.filter(({ invokedAt }) => invokedAt <= at);
  // A request without an answer may have been refused, and a write whose answer was lost may have counted twice.
  const refused = earlier.filter(
    ({ outcome, answeredAt }) =>
      answeredAt >= at ||
      outcome.kind === 'failed' ||
      (outcome.kind === 'refused' && outcome.key.currentMinute === key.currentMinute),
  ).length;
  const repeated = earlier.reduce((sum, { faults }) => sum + faults, 0);
  return refused + repeated < key.perMinute;
}

/** Requests refused by the limit although the key had been refused so often that it should be suspended. */
function refusedTooOften(own: readonly LimiterRequest[]): string[] {
  const refusals = own.flatMap(({ outcome, environment, answeredAt, epoch, invokedAt }) =>
    outcome.kind === 'refused' && outcome.reason !== 'suspended' && epoch > invokedAt - PROMPT_MS
      ? { environment, answeredAt, minute: outcome.key.currentMinute, perMinute: outcome.key.perMinute }
      : [],
  );
  return refusals.flatMap((last) => {
    const before = refusals.filter(
      ({ minute, answeredAt }) => minute === last.minute && answeredAt < last.answeredAt - COUNTED_AFTER_MS,
    );
    // An environment counts its refusals at the latest when it refuses another request much later.
    const counted = before.filter(({ environment, answeredAt }) =>
      before.some((later) => later.environment === environment && later.answeredAt - COUNTED_AFTER_MS > answeredAt),
    );
    const what = `a key of ${last.perMinute} a minute was not suspended after ${counted.length} refusals`;
    return counted.length < last.perMinute ? [] : [`At ${last.answeredAt} ${what}`];
  });
}

const about = ({ environment, invokedAt, answeredAt, epoch, token }: LimiterRequest, what: string): string =>
  `Environment ${environment}, from ${invokedAt} to ${answeredAt}, epoch ${epoch}, key ${token.recordId.slice(-16, -8)}, token ${token.hash.slice(0, 8)}: ${what}`;
