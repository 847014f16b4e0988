import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConflictException,
  CreateUsagePlanKeyCommand,
  DeleteUsagePlanKeyCommand,
  NotFoundException,
  paginateGetUsagePlans,
} from '@aws-sdk/client-api-gateway';
import { isOfStage } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { reportWaiting } from '../waiting.ts';
import { unlessGone } from './unless-gone.ts';

/** API Gateway puts one key on a plan at a time; whoever comes meanwhile is refused as conflicting. */
const MAX_TRIES = 8;

/**
 * Puts a key on a usage plan, if it is not there yet.
 *
 * @throws AdminError where it is on another plan of the stage, or the key or the plan is gone
 */
export async function putOnPlan(target: Target, keyId: string, usagePlanId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await target.gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
      return;
    } catch (error) {
      if (error instanceof NotFoundException)
        throw new AdminError(`The key ${keyId}, or its usage plan, was deleted by somebody else meanwhile.`);
      if (!(error instanceof ConflictException)) throw error;
      const current = await planOnStage(target, keyId);
      if (current === usagePlanId) return;
      if (current !== undefined) throw new AdminError(`The key ${keyId} is on the usage plan ${current} by now.`);
      if (attempt === MAX_TRIES) throw error;
    }
    reportWaiting();
    await sleep(Math.random() * Math.min(5_000, 200 * 2 ** attempt));
  }
}

/** Takes a key off a usage plan, if it is there. */
export async function takeOffPlan({ gateway }: Target, keyId: string, usagePlanId: string): Promise<void> {
  await unlessGone(gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId })));
}

async function planOnStage({ gateway: client, apiStage }: Target, keyId: string): Promise<string | undefined> {
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, { keyId })) {
    const found = items.find((plan) => isOfStage(plan, apiStage));
    if (found) return found.id;
  }
  return undefined;
}
