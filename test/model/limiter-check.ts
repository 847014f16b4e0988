import { isDeepStrictEqual } from 'node:util';
import { type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { isSameDay, minuteOf, type Refusal, validToken } from '../../shared/keys/verdict.ts';
import { type LimiterHistory, type LimiterRequest, MAX_AHEAD_MS } from './limiter-schedule.ts';
import { recordOf } from './virtual-table.ts';

/** How long an environment uses its cache, in milliseconds of request time. */
const REFUSAL_CACHE_TTL_MS = 1_000;

/** The record of a key after a write. */
interface Version {
  readonly at: number;
  readonly writer: string;
  readonly key: KeyRecord;
  readonly before: KeyRecord | undefined;
}

type Faults = Readonly<Record<string, boolean>>;

/**
 * Responses that contradict the table, and writes that it must not have; none if all is well. Each admitted
 * request has one write that counts it, no write takes more than a window has, so no window admits more than its limit.
 * Only a request whose response from DynamoDB is lost may be counted once more than it is admitted, so a window admits
 * at most one fewer for each.
 */
export function violationsOfLimiter({ requests, commits }: LimiterHistory): string[] {
  const versions = commits.map(({ at, writer, before, after }): Version => {
    return { at, writer, key: recordOf(after), before: before && recordOf(before) };
  });
  const byKey = Map.groupBy(versions, ({ key }) => key.recordId);
  return [...Map.groupBy(requests, ({ token }) => token.recordId)].flatMap(([recordId, own]) => {
    const ownVersions = byKey.get(recordId) ?? [];
    return own.flatMap((request) => {
      const writes = ownVersions.filter(({ writer }) => writer === request.writer);
      return [
        ...writes.flatMap((write) => broken(request, faultsOfWrite(request, write))),
        ...writes.flatMap((write) => broken(request, { 'suspended a key too early': isTooEarly(write, own) })),
        ...broken(request, faultsOfResponse(request, writes, ownVersions, own)),
      ];
    });
  });
}

const broken = (
  { environment, invokedAt, respondedAt, epoch, token, outcome }: LimiterRequest,
  faults: Faults,
): string[] =>
  Object.entries(faults).flatMap(([what, isSo]) =>
    isSo
      ? `Environment ${environment}, from ${invokedAt} to ${respondedAt}, epoch ${epoch}, key ${token.recordId.slice(-16, -8)}, token ${token.hash.slice(0, 8)}: ${outcome.kind}, ${what}`
      : [],
  );

/** A request changes a key only if its token is valid and the counters allow it at that moment. */
function faultsOfWrite(request: LimiterRequest, { before, key }: Version): Faults {
  if (!isValid(before, request)) return { 'changed a key that its token does not open': true };
  const isSameMinute = before.currentMinute === key.currentMinute;
  const used = isSameMinute ? before.minuteUsed : 0;
  const dayUsed = isSameDay(before.currentMinute, key.currentMinute) ? before.dayUsed : 0;
  const refused = isSameMinute ? before.minuteRefused : 0;
  const isFull = used >= before.perMinute || dayUsed >= before.perDay;
  const suspends = key.suspendedUntil > before.suspendedUntil;
  return {
    'counted in a minute that is over': !suspends && key.currentMinute < minuteOf(request.epoch),
    'went back to an earlier minute': key.currentMinute < before.currentMinute,
    'began a minute that is not there yet':
      !isSameMinute && key.currentMinute > minuteOf(request.respondedAt + MAX_AHEAD_MS),
    'lowered a counter': key.minuteUsed < used || key.dayUsed < dayUsed || key.minuteRefused < refused,
    'counted more than itself': key.minuteUsed > used + 1 || key.dayUsed > dayUsed + 1,
    'took more than the minute has': key.minuteUsed > Math.max(used, before.perMinute),
    'took more than the day has': key.dayUsed > Math.max(dayUsed, before.perDay),
    'was counted as refused, with room': key.minuteRefused > refused && !isFull,
    'counted nothing': !suspends && key.minuteUsed === used && key.minuteRefused === refused,
    'suspended a key that was not refused often': suspends && before.minuteRefused < before.perMinute,
  };
}

const isAdmission = ({ before, key }: Version): boolean =>
  key.minuteUsed > (before?.currentMinute === key.currentMinute ? before.minuteUsed : 0);

/** A suspension requires refusals that were returned or are pending; a write with a lost response may count twice. */
function isTooEarly({ at, key, before }: Version, own: readonly LimiterRequest[]): boolean {
  if (key.suspendedUntil <= (before?.suspendedUntil ?? 0)) return false;
  const earlier = own.filter(({ invokedAt }) => invokedAt <= at);
  const refused = earlier.filter(
    ({ outcome, respondedAt }) =>
      respondedAt >= at ||
      outcome.kind === 'failed' ||
      (outcome.kind === 'refused' && outcome.key.currentMinute === key.currentMinute),
  );
  return refused.length + earlier.reduce((sum, { lost }) => sum + lost, 0) < key.perMinute;
}

function faultsOfResponse(
  request: LimiterRequest,
  writes: readonly Version[],
  versions: readonly Version[],
  own: readonly LimiterRequest[],
): Faults {
  const { outcome, lost } = request;
  const admissions = writes.filter(isAdmission);
  const counted = {
    'was counted more often': admissions.length > (outcome.kind === 'admitted' ? 1 : 0) + lost,
  };
  if (outcome.kind === 'failed') return { ...counted, 'had no fault': !hasReason(request, own) };
  if (outcome.kind === 'admitted')
    return { ...counted, 'was not counted so': !admissions.some(({ key }) => isDeepStrictEqual(key, outcome.key)) };
  const states = statesBehind(request, versions);
  const valid = states.filter((key) => isValid(key, request));
  if (outcome.kind === 'denied') return { ...counted, 'had a valid key': valid.length === states.length };
  // An admin may have closed the key right after it was counted.
  const isRight = valid.length > 0 && states.some((key) => key && isRefusedBy(key, outcome, request.epoch));
  return { ...counted, [`had no reason: ${outcome.reason}`]: !isRight };
}

/** Whether a request that failed had a fault, or follows one of its environment that was throttled within a second. */
function hasReason({ outcome, faults, environment, invokedAt, epoch }: LimiterRequest, own: readonly LimiterRequest[]) {
  return (
    faults > 0 ||
    own.some(
      (other) =>
        outcome.kind === 'failed' &&
        other.outcome.kind === 'failed' &&
        other.outcome.error === outcome.error &&
        other.faults > 0 &&
        other.environment === environment &&
        other.respondedAt <= invokedAt &&
        Math.abs(epoch - other.epoch) < REFUSAL_CACHE_TTL_MS,
    )
  );
}

/** The key at each moment at which a response's data may have been read; undefined: it was absent. */
function statesBehind({ epoch, invokedAt, respondedAt }: LimiterRequest, versions: readonly Version[]) {
  const since = Math.min(epoch, invokedAt) - REFUSAL_CACHE_TTL_MS - MAX_AHEAD_MS;
  const during = versions.filter(({ at }) => at > since && at <= respondedAt);
  return [versions.findLast(({ at }) => at <= since), ...during].map((version) => version?.key);
}

/** Whether a key may be used at all, with the token of a request. */
function isValid(key: KeyRecord | undefined, { token, epoch }: LimiterRequest): key is KeyRecord {
  if (!key) return false;
  const { enabled, revoked, suspendedUntil, expiresAtMs = NO_EXPIRY } = key;
  const isOpen = enabled && !revoked && suspendedUntil < UNTIL_RESUMED && expiresAtMs > epoch;
  return isOpen && validToken(key, token.hash, epoch) !== undefined;
}

function isRefusedBy(state: KeyRecord, { reason, key }: Refusal, epoch: number): boolean {
  if (reason === 'suspended') return state.suspendedUntil > epoch;
  if (reason === 'day') return isSameDay(state.currentMinute, key.currentMinute) && state.dayUsed >= state.perDay;
  return state.currentMinute === key.currentMinute && state.minuteUsed >= state.perMinute;
}
