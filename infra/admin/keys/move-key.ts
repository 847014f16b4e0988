import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import type { Target } from '../target.ts';
import { BusyCommand } from './busy-command.ts';
import { INTERIM_MS, waitForLeases } from './change-record.ts';
import { cataloguePlanId } from './create-key.ts';
import { findKey, usagePlanOf } from './find-key.ts';
import { limitTags, putOnPlan, tag, takeOffPlan, untag } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';

/**
 * Puts a key on another plan, or gives an Enterprise key other limits. The new limits hold once API Gateway has them; the
 * counters stay. A key that is closed stays closed. While it is on neither plan, the mark in its record keeps a sync from
 * taking it for one that was taken off.
 */
export async function moveKey(target: Target, id: string, plan: PlanId, limits: Limits): Promise<KeyView> {
  const { record } = await findKey(target, id);
  const to = await cataloguePlanId(target, plan);
  const isAgreed = plans[plan].limits === 'agreed';
  const work = async (command: BusyCommand): Promise<KeyRecord> => {
    await waitForLeases(target);
    // Under the mark: before it, another command may have moved the key.
    const from = (await usagePlanOf(target, id))?.usagePlanId;
    // Tags of limits stand first: on the Enterprise plan no key is without them.
    if (isAgreed) await command.call(() => tag(target, id, limitTags(limits)));
    await changePlan(target, command, id, from, to);
    if (!isAgreed) await command.call(() => untag(target, id, gatewayTags.perMinute, gatewayTags.perDay));
    return command.end(({ suspendedByAdmin }) => ({
      plan,
      ...limits,
      interimUntil: Date.now() + INTERIM_MS,
      // Refusals under the old limits do not count against the key any more.
      ...(!suspendedByAdmin && { suspendedUntil: 0 }),
      minuteRefused: 0,
    }));
  };
  // Between the two plans API Gateway knows the key on none.
  const interim = { interimUntil: Date.now() + INTERIM_MS };
  const moved = await BusyCommand.run(target, record, 'move', work, interim);
  await waitForLeases(target);
  return keyView(moved);
}

async function changePlan(target: Target, command: BusyCommand, id: string, from: string | undefined, to: string) {
  if (from !== undefined && from !== to)
    await command.call(async () => {
      // From here on a sync must not take it for one that was taken off, whatever fails.
      command.isBetweenStates = true;
      await takeOffPlan(target, id, from);
    });
  try {
    await command.call(() => putOnPlan(target, id, to));
    command.isBetweenStates = false;
  } catch (error) {
    if (from !== undefined && (await isPutBack(target, id, from))) command.isBetweenStates = false;
    throw error;
  }
}

/** Puts a key on the plan again that it was taken off. A failure is not reported: that of the move is. */
const isPutBack = (target: Target, id: string, usagePlanId: string): Promise<boolean> =>
  putOnPlan(target, id, usagePlanId).then(
    () => true,
    () => false,
  );
