import { type KeyRecord, NO_EXPIRY, tokenName, UNTIL_RESUMED } from '../keys/key-record.ts';
import { type ExactLimits, plans } from '../keys/plans.ts';
import type { Tokens } from './key-tokens.ts';

/**
 * A change of a key in short phrases such as `plan free → pro`; none where only bookkeeping changed, such as
 * `unappliedSince`, or the limiter suspended the key. Never a token or its hash.
 *
 * @param before undefined for a new key @param at time of the change, Unix milliseconds
 */
export function describeChange(before: KeyRecord | undefined, after: KeyRecord, at: number): string[] {
  if (!before) {
    const empty = { ...after, expiresAtMs: undefined, tokens: {} };
    return [`created on ${planText(after)}`, ...describeChange(empty, after, at)];
  }
  const plan = changed('plan', planText(before), planText(after));
  return [
    ...changed('name', before.name, after.name),
    ...(plan.length > 0 ? plan : changed('limits', limitsText(before), limitsText(after))),
    ...changed('expires', timeText(before.expiresAtMs), timeText(after.expiresAtMs)),
    ...stateChange(before, after, at),
    ...tokenChanges(before.tokens, after.tokens, at),
  ];
}

const changed = (what: string, before: string, after: string): string[] =>
  before === after ? [] : [`${what} ${before} → ${after}`];

const limitsText = ({ perMinute, perDay }: ExactLimits): string =>
  `${perMinute.toLocaleString('en')} per minute, ${perDay.toLocaleString('en')} per day`;

const planText = (key: KeyRecord): string =>
  plans[key.plan].limits === 'agreed' ? `${key.plan} (${limitsText(key)})` : key.plan;

const timeText = (epochMs = NO_EXPIRY): string =>
  epochMs >= NO_EXPIRY ? 'never' : `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A suspension by the limiter is not listed, as it is no revision; its end by an admin is. */
function stateChange(before: KeyRecord, after: KeyRecord, at: number): string[] {
  if (after.revoked) return before.revoked ? [] : ['revoked'];
  const { suspendedUntil: until, suspendedByAdmin } = after;
  const isNew = until !== before.suspendedUntil || !before.suspendedByAdmin;
  if (suspendedByAdmin && until > at && isNew)
    return [`suspended until ${until >= UNTIL_RESUMED ? 'it is resumed' : timeText(until)}`];
  if (before.suspendedUntil > at && until <= at) return ['resumed'];
  return before.enabled === after.enabled ? [] : [after.enabled ? 'enabled' : 'disabled'];
}

function tokenChanges(before: Tokens, after: Tokens, at: number): string[] {
  const changes: string[] = [];
  for (const [hash, token] of Object.entries({ ...before, ...after })) {
    const { access, until } = token;
    const name = `token ${tokenName(token)}`;
    const isGone = !(hash in after);
    if (isGone && until > at) changes.push(`${name} removed`);
    if (!(hash in before)) changes.push(`${name} added${access === 'full' ? '' : ', read-only'}`);
    if (isGone || until === (before[hash]?.until ?? NO_EXPIRY)) continue;
    changes.push(`${name} ${until > at ? `ends ${timeText(until)}` : 'ended'}`);
  }
  return changes;
}
