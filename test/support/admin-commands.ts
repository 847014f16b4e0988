import { createKey, type NewKey } from '../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../infra/admin/keys/move-key.ts';
import { findDoomedKey, revokeKey } from '../../infra/admin/keys/revoke-key.ts';
import { rotateKey } from '../../infra/admin/keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../../infra/admin/keys/suspend-key.ts';
import type { Target } from '../../infra/admin/target.ts';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { syncKeys } from '../../shared/key-registry/sync-keys.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../shared/keys/suspension.ts';
import { outerGuard, plans } from '../../shared/keys/plans.ts';
import { apiStage, aUsagePlan } from './gateway-records.ts';
import type { InProcessTarget } from './in-process-target.ts';
import { aKey } from './key-records.ts';

const HOUR_MS = 3_600_000;
export const AGREED = { perMinute: 900, perDay: 9_000 };

/** A command of an admin, on the key with an id. @returns the key that it shows, where it makes one */
export type Command = (target: Target, id: string) => Promise<NewKey | undefined>;

const quietly =
  (command: (target: Target, id: string) => Promise<unknown>): Command =>
  async (target, id) => {
    await command(target, id);
    return undefined;
  };

/** The name of the keys in a test, so that one command comes across what another has left. */
export const NAME = 'acme';

export const commands = {
  create: (target) => createKey(target, { name: NAME, plan: 'free', limits: undefined, expiresAt: undefined }),
  'create for Enterprise': (target) =>
    createKey(target, { name: NAME, plan: 'enterprise', limits: AGREED, expiresAt: undefined }),
  'move to Pro': quietly((target, id) => moveKey(target, id, 'pro', undefined)),
  'move to Enterprise': quietly((target, id) => moveKey(target, id, 'enterprise', { perMinute: 800, perDay: 8_000 })),
  rotate: (target, id) => rotateKey(target, id, HOUR_MS),
  suspend: quietly((target, id) => suspendKey(target, id, undefined)),
  'suspend for a while': quietly((target, id) => suspendKey(target, id, HOUR_MS)),
  resume: quietly((target, id) => resumeKey(target, id)),
  revoke: quietly(async (target, id) => revokeKey(target, await findDoomedKey(target, id))),
  sync: quietly((target) => syncKeys(target.gateway, target.keyTable, target.apiStage)),
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;

/** How the key is at the start that the commands are about. */
export type Start = 'open' | 'suspended' | 'with its own plan' | 'rotated before';

/** Issues the key that the commands are about. @returns its record */
export async function issueSubject(world: InProcessTarget, start: Start): Promise<KeyRecord> {
  const isOwn = start === 'with its own plan';
  const closed = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
  const subject = aKey({
    keyId: 'subject',
    lineage: 'subject',
    name: NAME,
    plan: isOwn ? 'enterprise' : 'free',
    ...(isOwn ? AGREED : plans.free.limits),
    ...(start === 'suspended' && closed),
    revision: 1,
  });
  if (isOwn) world.records.putUsagePlan(ownPlan());
  await world.issue(subject, isOwn ? 'own' : 'free');
  if (start === 'rotated before') {
    const expiresAt = Math.ceil(Date.now() / 1_000) * 1_000 + HOUR_MS;
    const old = aKey({ keyId: 'old', lineage: 'old', name: NAME, replacedBy: subject.keyHash, expiresAt });
    const tags = { [gatewayTags.replacedBy]: 'subject', [gatewayTags.expires]: new Date(expiresAt).toISOString() };
    await world.issue(old, 'free', tags);
  }
  return subject;
}

function ownPlan() {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(AGREED);
  return aUsagePlan({
    id: 'own',
    name: `staging Enterprise: ${NAME}`,
    throttle: { rateLimit, burstLimit },
    quota: { limit: quotaPerDay },
    tags: {
      [gatewayTags.plan]: 'enterprise',
      [gatewayTags.perMinute]: String(AGREED.perMinute),
      [gatewayTags.perDay]: String(AGREED.perDay),
      [gatewayTags.ownPlanOf]: `${apiStage.apiId}/${apiStage.stage}`,
    },
  });
}
