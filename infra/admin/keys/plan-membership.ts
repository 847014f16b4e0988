import {
  ConflictException,
  CreateUsagePlanKeyCommand,
  DeleteUsagePlanKeyCommand,
  GetUsagePlanKeyCommand,
  NotFoundException,
} from '@aws-sdk/client-api-gateway';
import type { Target } from '../target.ts';

/** Puts a key on a usage plan, if it is not there yet. */
export async function putOnPlan({ gateway }: Target, keyId: string, usagePlanId: string): Promise<void> {
  try {
    await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
  } catch (error) {
    if (!(error instanceof ConflictException)) throw error;
    // Fine if it is on this plan; on another it must not stay unnoticed.
    await gateway.send(new GetUsagePlanKeyCommand({ usagePlanId, keyId })).catch(() => {
      throw error;
    });
  }
}

/** Takes a key off a usage plan, if it is there. */
export async function takeOffPlan({ gateway }: Target, keyId: string, usagePlanId: string): Promise<void> {
  try {
    await gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
  }
}
