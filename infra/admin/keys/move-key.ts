import { randomBytes } from 'node:crypto';
import { gatewayTags, UNDER_WAY_MS } from '../../../shared/key-registry/gateway-tags.ts';
import { isBusy } from '../../../shared/key-registry/mirror.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError, awsReason, isAnswer } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { time } from '../text-format.ts';
import { changedMeanwhile, changeRecord, INTERIM_MS, waitOutMemory } from './change-record.ts';
import { cataloguePlanId } from './create-key.ts';
import { findKey, usagePlanOf } from './find-key.ts';
import { limitTags, putOnPlan, tag, takeOffPlan, untag } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';

/** A move gives up when it takes longer, in milliseconds: its mark counts for twice as long. */
const LONGEST_MOVE_MS = 5 * 60_000;

type Mark = NonNullable<KeyRecord['busy']>;

/** A move that is under way. */
interface Move {
  readonly target: Target;
  readonly record: KeyRecord;
  readonly mark: Mark;
  readonly plan: PlanId;
  readonly limits: Limits;
  /** The id of its usage plan. */
  readonly to: string;
  /** Whether the key is on neither plan. A failure then leaves the mark, which counts until it is ten minutes old. */
  isBetweenPlans: boolean;
}

/**
 * Puts a key on another plan, or gives an Enterprise key other limits. The new limits hold once API Gateway has them; the
 * counters stay. A key that is closed stays closed.
 *
 * The mark `busy` in the record keeps other moves away, and syncs from anything but closing: while the key is on neither
 * plan, a sync must not take it for one that was taken off. Each write goes by the mark, and the last one removes it. A
 * failure removes it too, unless the key is on neither plan, or a call that had no answer may still arrive.
 *
 * @throws AdminError where another command is under way on the key, or the key was revoked
 */
export async function moveKey(target: Target, id: string, plan: PlanId, limits: Limits): Promise<KeyView> {
  const { record } = await findKey(target, id);
  const to = await cataloguePlanId(target, plan);
  const mark: Mark = { by: 'move', since: Date.now(), id: randomBytes(3).toString('base64url') };
  await changeRecord(target, record.recordId, (now) => {
    checkNotBusy(now);
    // Between the two plans API Gateway knows the key on none.
    return { interimUntil: Date.now() + INTERIM_MS, busy: mark };
  });
  const moved = await underMark({ target, record, mark, plan, limits, to, isBetweenPlans: false });
  await waitOutMemory(target);
  return keyView(moved);
}

async function underMark(move: Move): Promise<KeyRecord> {
  try {
    return await makeMove(move);
  } catch (error) {
    const mayArrive = !(error instanceof AdminError || isAnswer(error));
    if (move.isBetweenPlans || mayArrive) throw interrupted(error, move.mark.since);
    await removeMark(move);
    throw error;
  }
}

async function makeMove(move: Move): Promise<KeyRecord> {
  const { target, record, plan, limits } = move;
  const id = record.keyId;
  const isAgreed = plans[plan].limits === 'agreed';
  await waitOutMemory(target);
  // Under the mark: before it, another command may have moved the key.
  const from = (await usagePlanOf(target, id))?.usagePlanId;
  // Tags of limits stand first: on the Enterprise plan no key is without them.
  if (isAgreed) await inTime(move, () => tag(target, id, limitTags(limits)));
  await changePlan(move, from);
  if (!isAgreed) await inTime(move, () => untag(target, id, gatewayTags.perMinute, gatewayTags.perDay));
  return changeRecord(target, record.recordId, ({ busy, suspendedByAdmin }) => {
    // The mark is another's by now, or was removed by what closes the key.
    if (busy?.id !== move.mark.id) throw changedMeanwhile(id);
    return {
      plan,
      ...limits,
      interimUntil: Date.now() + INTERIM_MS,
      // Refusals under the old limits do not count against the key any more.
      ...(!suspendedByAdmin && { suspendedUntil: 0 }),
      minuteRefused: 0,
      busy: undefined,
    };
  });
}

async function changePlan(move: Move, from: string | undefined): Promise<void> {
  const { target, record, to } = move;
  const id = record.keyId;
  if (from !== undefined && from !== to)
    await inTime(move, async () => {
      // From here on a sync must not take it for one that was taken off, whatever fails.
      move.isBetweenPlans = true;
      await takeOffPlan(target, id, from);
    });
  try {
    await inTime(move, () => putOnPlan(target, id, to));
    move.isBetweenPlans = false;
  } catch (error) {
    if (from !== undefined && (await isPutBack(target, id, from))) move.isBetweenPlans = false;
    throw error;
  }
}

/** Puts a key on the plan again that it was taken off. A failure is not reported: that of the move is. */
const isPutBack = (target: Target, id: string, usagePlanId: string): Promise<boolean> =>
  putOnPlan(target, id, usagePlanId).then(
    () => true,
    () => false,
  );

/** Makes a call to API Gateway. @throws AdminError once the move has taken too long */
async function inTime({ mark }: Move, call: () => Promise<void>): Promise<void> {
  if (Date.now() - mark.since > LONGEST_MOVE_MS)
    throw new AdminError('The command took too long, and was given up. Run it again.');
  await call();
}

/** Removes the mark, if it is still there. @throws AdminError where the key was revoked: that is what the admin must hear */
async function removeMark({ target, record, mark }: Move): Promise<void> {
  try {
    await changeRecord(target, record.recordId, ({ busy }) => ({ busy: busy?.id === mark.id ? undefined : busy }));
  } catch (error) {
    // The admin hears of the failure that came first.
    if (error instanceof AdminError) throw error;
  }
}

/** @returns the error, with the time from which on the command can be run again */
function interrupted(error: unknown, since: number): unknown {
  const fault = awsReason(error);
  const reason = error instanceof AdminError ? error.message.replace(/\.$/, '') : fault;
  if (reason === undefined) return error;
  const why = fault === undefined ? 'The key may be between two states' : 'What was sent may still arrive';
  return new AdminError(`${reason}. ${why}: run the same command again at ${endOfMark(since)}.`);
}

/** @throws AdminError where a command of several steps is under way on a key */
export function checkNotBusy(record: KeyRecord): void {
  const { keyId, busy } = record;
  if (!busy || !isBusy(record)) return;
  throw new AdminError(
    `Another command (${busy.by}) is under way on the key ${keyId} since ${timeOf(busy.since)}. ` +
      `Run this one again when it is done; if it was cut off, at ${endOfMark(busy.since)}.`,
  );
}

const timeOf = (epochMs: number): string => time(new Date(epochMs).toISOString());

/** From when on a mark does not count any more: the first full minute, since the text has no seconds. */
const endOfMark = (since: number): string => timeOf(Math.ceil((since + UNDER_WAY_MS) / 60_000) * 60_000);
