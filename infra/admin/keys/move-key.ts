import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import type { Target } from '../target.ts';
import { BusyCommand, INTERIM_MS, outlastMemory } from './change-record.ts';
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
  // Between the two plans API Gateway knows the key on none.
  const interim = { interimUntil: Date.now() + INTERIM_MS };
  const work = async (command: BusyCommand): Promise<KeyRecord> => {
    await outlastMemory(target);
    // Under the mark: before it, another command may have moved the key.
    const from = await usagePlanOf(target, id);
    // Tags of limits stand first: on the Enterprise plan no key is without them.
    if (plans[plan].limits === 'agreed') await step(command, () => tag(target, id, limitTags(limits)));
    if (from && from.usagePlanId !== to) {
      command.checkTime();
      // From here on a sync must not take it for one that was taken off, whatever fails.
      command.keepMark(true);
      await takeOffPlan(target, id, from.usagePlanId);
    }
    try {
      await step(command, () => putOnPlan(target, id, to));
    } catch (error) {
      if (from && (await isPutBack(target, id, from.usagePlanId))) command.keepMark(false);
      throw error;
    }
    command.keepMark(false);
    if (plans[plan].limits !== 'agreed')
      await step(command, () => untag(target, id, gatewayTags.perMinute, gatewayTags.perDay));
    return command.end(({ suspendedByAdmin }) => ({
      plan,
      ...limits,
      interimUntil: Date.now() + INTERIM_MS,
      // Refusals under the old limits do not count against the key any more.
      ...(!suspendedByAdmin && { suspendedUntil: 0 }),
      minuteRefused: 0,
    }));
  };
  const moved = await BusyCommand.run(target, record, 'move', work, interim);
  await outlastMemory(target);
  return keyView(moved);
}

async function step(command: BusyCommand, call: () => Promise<void>): Promise<void> {
  command.checkTime();
  await call();
}

/** Puts a key on the plan again that it was taken off. @returns whether that was done */
async function isPutBack(target: Target, id: string, usagePlanId: string): Promise<boolean> {
  try {
    await putOnPlan(target, id, usagePlanId);
    return true;
  } catch {
    // The reason is that of the move, which its admin hears.
    return false;
  }
}
