import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { isoTime } from '../../../shared/key-registry/iso-time.ts';
import { reasonOf } from '../../admin/admin-error.ts';
import { ReleaseError } from '../release-error.ts';
import type { Advisory } from './audit-report.ts';

const allowanceSchema = v.strictObject({
  /** Its id, such as `GHSA-35jh-r3h4-6jhm`. */
  advisory: v.string(),
  /** Why it does no harm here. */
  reason: v.optional(v.string(), ''),
  /** The last day on which that holds, such as `2027-01-31` (UTC). After it somebody has to look again. */
  until: v.optional(v.string(), ''),
});

/** An advisory that may stand for a while. */
export type Allowance = v.InferOutput<typeof allowanceSchema>;

/** @throws ReleaseError where the file is no allow-list */
export function readAllowlist(file: string): Allowance[] {
  try {
    return v.parse(v.array(allowanceSchema), JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new ReleaseError(`The allow-list ${file} cannot be read: ${reasonOf(error)}.`);
  }
}

/**
 * What is wrong with an allow-list: sentences without a full stop.
 *
 * @param now Unix milliseconds
 */
export function allowlistProblems(
  allowances: readonly Allowance[],
  advisories: readonly Advisory[],
  now: number,
): string[] {
  const found = new Set(advisories.map(({ id }) => id));
  const ids = allowances.map(({ advisory }) => advisory);
  return allowances.flatMap(({ advisory, reason, until }, index) => [
    ...(reason.trim() === '' ? [`the allowance for ${advisory} gives no reason`] : []),
    ...(lastMoment(until) === undefined ? [`the allowance for ${advisory} gives no date such as 2027-01-31`] : []),
    ...(isOver(until, now) ? [`the allowance for ${advisory} ended on ${until}`] : []),
    ...(found.has(advisory) ? [] : [`the allowance for ${advisory} matches nothing any more: take it out`]),
    ...(ids.indexOf(advisory) < index ? [`${advisory} is allowed twice`] : []),
  ]);
}

/** Whether an allowance holds. */
export function holds({ reason, until }: Allowance, now: number): boolean {
  return reason.trim() !== '' && lastMoment(until) !== undefined && !isOver(until, now);
}

function lastMoment(day: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? isoTime(day) : Number.NaN;
  return Number.isNaN(time) ? undefined : time + 24 * 60 * 60_000 - 1;
}

function isOver(day: string, now: number): boolean {
  const last = lastMoment(day);
  return last !== undefined && last < now;
}
