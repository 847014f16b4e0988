import { deleteLiveKey, usagePlanIdOf } from '../../../shared/key-registry/update-gateway.ts';
import { differences, type KeyChange, MAIN_LABEL, revocation } from '../../../shared/key-registry/record-changes.ts';
import { takesEdits, UNREAD } from '../../../shared/key-registry/reconcile.ts';
import { type Access, idOf, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatTime, limitsText, timeOrNever, visible } from '../service/text.ts';
import { changeKey, changeRecord, reportUnapplied, waitForRefusalCacheExpiry } from './change-key.ts';
import { findKey, findRecord } from './find-key.ts';
import { type Inputs, limitsOn } from './inputs.ts';
import { endingText, statePhrase, reasonText } from './key-sentences.ts';
import { type KeyView, keyView } from './key-view.ts';
import { addToken, createKey, endToken, type NewToken, rotateKey } from './tokens.ts';

export interface ActionResult {
  /** Sentence for the admin, safe to print. */
  readonly message: string;
  readonly view?: KeyView;
  readonly token?: NewToken;
}

/** An action on a key, offered by the command and the console. It reads only its own inputs. */
export interface KeyAction<Name extends keyof Inputs = keyof Inputs> {
  readonly title: string;
  /** Imperative sentence without a full stop, for the help and the console. */
  readonly effect: string;
  readonly inputs: readonly Name[];
  /** None of its inputs is required. */
  readonly allOptional?: boolean;
  /** Default values, as entered. */
  readonly defaults?: Readonly<Partial<Record<keyof Inputs, string>>>;
  /** Whether the console offers it for a key. */
  readonly isApplicable: (view: KeyView) => boolean;
  /** Irreversible effects, which the admin must confirm; undefined if there are none. */
  readonly confirmation?: (view: KeyView, values: Pick<Inputs, Name>, target: Target) => string | undefined;
  /** Effect of a retry after a failure; by default it completes the interrupted action. */
  readonly retryEffect?: string;
  /** @param values of its inputs @param id of the key */
  readonly run: (target: Target, values: Pick<Inputs, Name>, id: string) => Promise<ActionResult>;
}

const action = <Name extends keyof Inputs = never>(definition: KeyAction<Name>): KeyAction => definition;

/** Whether requests are refused until the key is resumed, or for a time. */
export const isSuspendedOrDisabled = ({ state }: KeyView): boolean => state === 'suspended' || state === 'disabled';
const isCurrent = ({ state }: KeyView): boolean => state !== 'expired';
/** The expiration as stored. */
const endOf = (expires = NO_EXPIRY): number | undefined => (expires < NO_EXPIRY ? expires : undefined);
const accessOf = (isReadOnly = false): Access => (isReadOnly ? 'read' : 'full');

export const createAction = action({
  title: 'Create a key',
  effect: 'Create a key; its token is shown once',
  inputs: ['name', 'plan', 'perMinute', 'perDay', 'expires', 'readOnly'],
  isApplicable: () => false,
  retryEffect: 'it creates another key. If this one exists, its token was never shown: rotate or revoke it',
  run: async (target, { name, plan, perMinute, perDay, expires: expiresAtMs, readOnly }) => {
    const limits = limitsOn(plan, { perMinute, perDay }, target);
    const params = { name, plan, limits, access: accessOf(readOnly), expiresAtMs: endOf(expiresAtMs) };
    const token = await createKey(target, params);
    return { token, message: '' };
  },
});

/** The actions on an existing key. */
export const keyActions: Readonly<Record<string, KeyAction>> = {
  resume: action({
    title: 'Resume',
    effect: 'Resume a suspended or disabled key, effective from its next request',
    inputs: [],
    isApplicable: isSuspendedOrDisabled,
    run: async (target, _, id) => {
      let [isRead, wasBlocked] = [false, false];
      const found = await findKey(target, id);
      const resumed = await changeKey(target, found, (now, { live }) => {
        // A key that is blocked again in the meantime stays blocked.
        if (isRead)
          throw new AdminError(
            `Another command has changed the key ${idOf(now)}. Check it with npm run admin -- keys show ${idOf(now)}, then run this command again.`,
          );
        isRead = true;
        wasBlocked = !now.enabled || now.suspendedUntil > Date.now();
        return wasBlocked || !live
          ? { enabled: true, suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 }
          : {};
      });
      if (wasBlocked) await waitForRefusalCacheExpiry(target);
      const view = keyView(resumed);
      const isAnew = found.keyId !== undefined && found.keyId !== resumed.keyId;
      const anew = isAnew ? ` Its API Gateway key was deleted, and is created anew with the id ${view.id}.` : '';
      const state = `${wasBlocked ? '' : 'is not suspended: it '}${statePhrase(view)}`;
      return { view, message: `${visible(view.name)} ${state}.${anew}` };
    },
  }),
  move: action({
    title: 'Move',
    effect: 'Move a key to another plan; its counters stay, and the new limits apply from its next request',
    inputs: ['plan', 'perMinute', 'perDay'],
    isApplicable: isCurrent,
    confirmation: (view, { plan, ...agreed }, target) => {
      const limits = limitsOn(plan, agreed, target);
      if (limits.perMinute >= view.perMinute && limits.perDay >= view.perDay) return undefined;
      return `From its next request, the key has lower limits: ${limitsText(limits)}. Until now: ${limitsText(view)}.`;
    },
    run: async (target, { plan, ...agreed }, id) => {
      const limits = limitsOn(plan, agreed, target);
      await usagePlanIdOf(target, plan);
      // Counters stay; a blocked key stays blocked.
      const record = await changeKey(target, await findKey(target, id), (now, { record: read, live }) => ({
        plan,
        ...limits,
        // A key without a plan gets one.
        ...(takesEdits(read) && live && live.usagePlanId === undefined && { enabled: read.enabled && live.enabled }),
        // Refusals under the old limits no longer count toward a suspension.
        ...(!now.suspendedByAdmin && { suspendedUntil: 0 }),
        minuteRefused: 0,
      }));
      await waitForRefusalCacheExpiry(target);
      const view = keyView(record);
      const moved = `${visible(view.name)} is on ${plans[plan].title} now: ${limitsText(view)}.`;
      return { view, message: view.state === 'active' ? moved : `${moved} It still ${statePhrase(view)}.` };
    },
  }),
  edit: action({
    title: 'Edit',
    effect: 'Change the name or the expiration of a key; the expirations of its tokens stay',
    inputs: ['name', 'expires'],
    allOptional: true,
    isApplicable: ({ state }) => state !== 'revoked',
    run: async (target, { name, expires }: Partial<Inputs>, id) => {
      if (name === undefined && expires === undefined)
        throw new AdminError('Nothing to edit. Pass --name, --expires or both.');
      const edited = await changeKey(target, await findKey(target, id), (now) =>
        differences(now, { name: name ?? now.name, expiresAtMs: endOf(expires ?? now.expiresAtMs) }),
      );
      if (expires !== undefined) await waitForRefusalCacheExpiry(target);
      const view = keyView(edited);
      return { view, message: `${visible(view.name)} ${statePhrase(view)}. It expires: ${timeOrNever(view.expires)}.` };
    },
  }),
  rotate: action({
    title: 'Rotate',
    effect: 'Replace a token of a key; the old one stays valid until its grace period ends',
    inputs: ['label', 'grace'],
    defaults: { label: MAIN_LABEL, grace: '24h' },
    isApplicable: (view) => isCurrent(view) && !isSuspendedOrDisabled(view),
    confirmation: ({ tokens }, { label, grace: graceMs }) => {
      const ending = tokens.filter((token) => token.label === label && !token.neverShown).map(({ name }) => name);
      if (graceMs > 0 || ending.length === 0) return undefined;
      return `Requests with ${ending.join(' or ')} are denied immediately, before the client has the new token.`;
    },
    run: async (target, { label, grace: graceMs }, id) => {
      const token = await rotateKey(target, id, { label, graceMs });
      const names = token.replaces.join(', ');
      const end = formatTime(token.graceEnds);
      const ended = names === '' ? '' : `Denied from now on: ${names}.`;
      const isInGrace = Date.parse(token.graceEnds) > Date.now();
      const kept = `The old token ${names} stays valid until ${end}, under the same limits.`;
      return { token, message: isInGrace ? kept : ended };
    },
  }),
  add: action({
    title: 'Add a token',
    effect: 'Add a token to a key, under the same limits; it is shown once',
    inputs: ['label', 'readOnly', 'expires'],
    isApplicable: (view) => isCurrent(view) && !isSuspendedOrDisabled(view),
    run: async (target, { label, readOnly, expires: until }, id) => {
      return { token: await addToken(target, id, { label, access: accessOf(readOnly), until }), message: '' };
    },
  }),
  'revoke-token': action({
    title: 'Revoke a token',
    effect: "Revoke one token, effective from its next request; the key's other tokens stay valid",
    inputs: ['token'],
    isApplicable: ({ tokens }) => tokens.length > 1,
    confirmation: (view, { token }) => endingText(view, token),
    run: async (target, { token }, id) => {
      const view = keyView(await endToken(target, id, token));
      return { view, message: `The token ${token} of ${visible(view.name)} is revoked.` };
    },
  }),
  suspend: action({
    title: 'Suspend',
    effect: 'Suspend a key, effective from its next request, for a time or until it is resumed',
    inputs: ['for', 'reason'],
    isApplicable: ({ state, suspendedUntil }) => state !== 'suspended' || suspendedUntil !== null,
    run: async (target, { for: forMs, reason }, id) => {
      const until = forMs === undefined ? UNTIL_RESUMED : Date.now() + forMs;
      const found = await findKey(target, id);
      // First the record, without API Gateway. An edit there that no sync has read is adopted afterwards.
      const suspension = ({ suspendedUntil, unappliedSince = UNREAD }: KeyRecord): KeyChange => ({
        // Another suspension can only extend the current one.
        suspendedUntil: Math.max(until, suspendedUntil),
        suspendedByAdmin: true,
        ...(forMs === undefined && { enabled: false, unappliedSince }),
      });
      const suspended = await changeRecord(target, found, suspension, { reason });
      const view = keyView(
        forMs === undefined
          ? await changeKey(target, suspended, () => ({})).catch((error: unknown) =>
              reportUnapplied(target, suspended, reasonOf(error)),
            )
          : reportUnapplied(target, suspended),
      );
      const end = view.suspendedUntil === null ? 'it is resumed' : formatTime(view.suspendedUntil);
      const rest = suspended.suspendedUntil > until ? ', as before: a shorter suspension changes nothing' : '';
      return { view, message: `${visible(view.name)} is suspended until ${end}${rest}.` };
    },
  }),
  revoke: action({
    title: 'Revoke permanently',
    effect: 'Revoke a key and all its tokens permanently, effective from its next request',
    inputs: ['reason'],
    isApplicable: () => true,
    confirmation: ({ state, tokens }, { reason }) => {
      if (state === 'revoked') return undefined;
      const all = tokens.length === 1 ? 'its token' : `all ${tokens.length} tokens`;
      return `All its requests, with ${all}, are denied permanently. This cannot be undone.${reasonText(reason)}`;
    },
    run: async (target, { reason }, id) => {
      const key = await findRecord(target, id);
      // First in the keys table, effective immediately, then in API Gateway.
      const options = { reason, mayBeRevoked: true } as const;
      const revoked = await changeRecord(target, key, (now) => (now.revoked ? {} : revocation(Date.now())), options);
      try {
        if (revoked.keyId !== undefined) await deleteLiveKey(target, revoked.keyId);
      } catch (error) {
        target.report(`The key is revoked. API Gateway still has it (${reasonOf(error)}): the next sync deletes it.`);
      }
      const view = keyView(revoked);
      return { view, message: `${visible(key.name)} (${view.id}) is revoked${key.revoked ? ' already' : ''}.` };
    },
  }),
};
