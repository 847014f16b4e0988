import type { Version } from './key-timeline.ts';
import type { ToldVerdict } from './limiter-schedule.ts';

/** Refusals are counted this late at most, in milliseconds: a second of memory, and what the clocks differ by. */
const COUNTED_AFTER_MS = 2_000;
/** A request that is later than this is taken for one that came late: it may be answered by what is long remembered. */
const PROMPT_MS = 100;

/**
 * A key is suspended once it was refused as often within a minute as it may make requests: not before, and where nothing
 * goes wrong and no admin changes it, not much later.
 *
 * @param own the requests of one lineage
 */
export function violationsOfSuspensions(own: readonly ToldVerdict[], versions: readonly Version[]): string[] {
  const isCalm = own.every(({ troubles, outcome }) => troubles === 0 && outcome.kind !== 'abandoned');
  const isLeftAlone = versions.every(({ writer }, index) => index === 0 || writer !== 'admin');
  return [
    ...versions.flatMap((version, index) => violationOfSuspension(version, versions[index - 1], own)),
    ...(isCalm && isLeftAlone ? refusedTooOften(own) : []),
  ];
}

function violationOfSuspension(version: Version, before: Version | undefined, own: readonly ToldVerdict[]): string[] {
  const { at, writer, key } = version;
  if (writer === 'admin' || key.suspendedUntil <= (before?.key.suspendedUntil ?? 0)) return [];
  const earlier = own.filter(({ invokedAt }) => invokedAt <= at);
  // Whoever was not told yet may have been refused, and a write whose answer was lost may have counted twice.
  const refused = earlier.filter(
    ({ outcome, answeredAt }) =>
      answeredAt >= at ||
      outcome.kind === 'failed' ||
      (outcome.kind === 'refused' && outcome.key.currentMinute === key.currentMinute),
  ).length;
  const repeated = earlier.reduce((sum, { troubles }) => sum + troubles, 0);
  if (refused + repeated >= key.perMinute) return [];
  return [`At ${at} a key of ${key.perMinute} a minute was suspended after ${refused} refusals`];
}

/** Those that were refused by the limit although the key had been refused so often that it should be suspended. */
function refusedTooOften(own: readonly ToldVerdict[]): string[] {
  const refusals = own.flatMap(({ outcome, environment, answeredAt, epoch, invokedAt }) =>
    outcome.kind === 'refused' && outcome.reason !== 'suspended' && epoch > invokedAt - PROMPT_MS
      ? { environment, answeredAt, minute: outcome.key.currentMinute, perMinute: outcome.key.perMinute }
      : [],
  );
  return refusals.flatMap((last) => {
    const ofMinute = refusals.filter(
      ({ minute, answeredAt }) => minute === last.minute && answeredAt <= last.answeredAt,
    );
    // What an environment has refused is counted at the latest when it refuses another request much later.
    const counted = ofMinute.filter(({ environment, answeredAt }) =>
      ofMinute.some(
        (later) =>
          later.environment === environment &&
          later.answeredAt - COUNTED_AFTER_MS > answeredAt &&
          later.answeredAt < last.answeredAt - COUNTED_AFTER_MS,
      ),
    );
    if (counted.length < last.perMinute) return [];
    return [
      `At ${last.answeredAt} a key of ${last.perMinute} a minute was not suspended after ${counted.length} refusals`,
    ];
  });
}
