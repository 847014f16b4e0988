import { usagePlanIdOf } from '../../../shared/key-registry/apply.ts';
import { newRecord, tokenEntry } from '../../../shared/key-registry/record-changes.ts';
import type { Access } from '../../../shared/keys/key-record.ts';
import type { ExactLimits, PlanId } from '../../../shared/keys/plans.ts';
import { generateToken, parseToken } from '../../../shared/keys/token.ts';
import type { Target } from '../service/target.ts';
import { applyChange } from './change-key.ts';
import { confirmation, type NewToken, newToken } from './new-token.ts';

export interface CreateKeyParams {
  readonly name: string;
  readonly plan: PlanId;
  readonly limits: ExactLimits;
  /** Access of its first token. */
  readonly access?: Access;
  /** Unix milliseconds. */
  readonly expiresAtMs?: number | undefined;
}

/** Creates a key with one token: first its record, with the token pending until shown, then its API Gateway key. */
export async function createKey(target: Target, params: CreateKeyParams): Promise<NewToken> {
  const { name, plan, limits, access, expiresAtMs } = params;
  await usagePlanIdOf(target, plan);
  const token = generateToken();
  const recordId = parseToken(token)?.recordId ?? '';
  const now = Date.now();
  const identity = { recordId, keyId: undefined, name, plan, ...limits, enabled: true, createdAt: now, expiresAtMs };
  const tokens = tokenEntry(token, { access, pending: true }, now);
  const record = await target.keyTable.add(newRecord({ ...identity, tokens, unappliedSince: now }));
  if (!record) throw new Error('The record id of the new key already exists');
  const created = await applyChange(target, { record, live: undefined }, true);
  return newToken(token, created, confirmation(target, created, token));
}
