import { type Access, NEVER } from '../../shared/keys/key-record.ts';
import { MAIN_LABEL } from '../../shared/key-registry/key-tokens.ts';
import { plans } from '../../shared/keys/plans.ts';
import { type Inputs, limitsOn } from './inputs.ts';
import { createKey } from './keys/create-key.ts';
import { endToken } from './keys/end-token.ts';
import { endingText } from './key-sentences.ts';
import { type KeyView, keyView } from './keys/key-view.ts';
import { editKey, endOf, moveKey, resumeKey, revokeKey, suspendKey } from './keys/key-changes.ts';
import { addToken, type NewToken } from './keys/new-token.ts';
import { findRecord } from './keys/find-key.ts';
import { rotateKey } from './keys/rotate-key.ts';
import type { Target } from './target.ts';
import { limitsText, formatTime, timeOrNever, visible } from './text-format.ts';

/** What an action has done. */
export interface ActionResult {
  /** In a sentence, which is safe to show. */
  readonly message: string;
  /** The key as it is then. */
  readonly view?: KeyView;
  /** To be shown this once. */
  readonly token?: NewToken;
}

/** An action on a key, as the command and the console offer it. */
export interface KeyAction {
  readonly title: string;
  /** Another name of the command. */
  readonly alias?: string;
  /** What it does, and from when on. */
  readonly effect: string;
  readonly inputs: readonly (keyof Inputs)[];
  /** None of its inputs is required. */
  readonly allOptional?: boolean;
  /** Inputs that need not be entered. */
  readonly defaults?: Readonly<Partial<Record<keyof Inputs, string>>>;
  /** Whether it makes sense on a key. */
  readonly isApplicable: (view: KeyView) => boolean;
  /** What cannot be taken back, in sentences: command and console ask first; undefined: there is nothing to ask. */
  readonly confirmation?: (view: KeyView, values: Inputs) => string | undefined;
  /** The effect of doing it again after a failure; by default it takes up what was cut off. */
  readonly retryEffect?: string;
  /** @param values of its inputs @param id of the key */
  readonly run: (target: Target, values: Inputs, id: string) => Promise<ActionResult>;
}

/** Checks that an action reads no inputs but its own. */
function action<Name extends keyof Inputs = never>(
  definition: Omit<KeyAction, 'inputs' | 'confirmation' | 'run'> & {
    readonly inputs: readonly Name[];
    readonly confirmation?: (view: KeyView, values: Pick<Inputs, Name>) => string | undefined;
    readonly run: (target: Target, values: Pick<Inputs, Name>, id: string) => Promise<ActionResult>;
  },
): KeyAction {
  return definition;
}

/** Whether it is refused until it is resumed, or for a while. */
export const isSuspendedOrDisabled = ({ state }: KeyView): boolean => state === 'suspended' || state === 'disabled';
const isCurrent = ({ state }: KeyView): boolean => state !== 'expired';
const accessOf = (isReadOnly = false): Access => (isReadOnly ? 'read' : 'full');

export const createAction = action({
  title: 'Create a key',
  effect: 'issues a key and shows it, this once',
  inputs: ['name', 'plan', 'perMinute', 'perDay', 'expires', 'readOnly'],
  isApplicable: () => false,
  retryEffect: 'it makes another key; this one, if it is there, was never shown: rotate or revoke it',
  run: async (target, { name, plan, perMinute, perDay, expires: expiresAtMs, readOnly }) => {
    const limits = limitsOn(plan, { perMinute, perDay }, target.stage);
    const params = { name, plan, limits, access: accessOf(readOnly), expiresAtMs: endOf(expiresAtMs) };
    const token = await createKey(target, params);
    return { token, message: '' };
  },
});

/** The actions on an existing key. */
export const keyActions: Readonly<Record<string, KeyAction>> = {
  resume: action({
    title: 'Resume',
    effect: 'lets a suspended key in again, from the next request on',
    inputs: [],
    isApplicable: isSuspendedOrDisabled,
    run: async (target, _, id) => {
      const { view, wasBlocked } = await resumeKey(target, id);
      return { view, message: `${visible(view.name)} is ${wasBlocked ? '' : 'not suspended: it is '}${view.state}.` };
    },
  }),
  move: action({
    title: 'Move',
    effect: 'puts a key on another plan: its limits hold from the next request on, and the counters stay',
    inputs: ['plan', 'perMinute', 'perDay'],
    isApplicable: isCurrent,
    run: async (target, { plan, ...agreed }, id) => {
      const view = await moveKey(target, id, plan, limitsOn(plan, agreed, target.stage));
      const moved = `${visible(view.name)} is on ${plans[plan].title} now: ${limitsText(view)}.`;
      return { view, message: view.state === 'active' ? moved : `${moved} It stays ${view.state}.` };
    },
  }),
  edit: action({
    title: 'Edit',
    effect: 'sets the name of a key, or its end, or both; what is left out stays, and so do the ends of its tokens',
    inputs: ['name', 'expires'],
    allOptional: true,
    isApplicable: ({ state }) => state !== 'revoked',
    run: async (target, edit, id) => {
      const view = await editKey(target, id, edit);
      return { view, message: `${visible(view.name)} is ${view.state}. It expires: ${timeOrNever(view.expires)}.` };
    },
  }),
  rotate: action({
    title: 'Rotate',
    effect: 'gives the key a new token; the old one works until the grace period ends',
    inputs: ['label', 'grace'],
    defaults: { label: MAIN_LABEL, grace: '24h' },
    isApplicable: (view) => isCurrent(view) && !isSuspendedOrDisabled(view),
    confirmation: ({ tokens }, { label, grace: graceMs }) => {
      const ending = tokens.filter((token) => token.label === label && !token.neverShown).map(({ name }) => name);
      if (graceMs > 0 || ending.length === 0) return undefined;
      return `Requests with ${ending.join(' or ')} are refused at once, before their user has the new one.`;
    },
    run: async (target, { label, grace: graceMs }, id) => {
      const token = await rotateKey(target, id, { label, graceMs });
      const { replaces, graceEnds } = token;
      const names = replaces.join(', ');
      if (Date.parse(graceEnds) > Date.now())
        return {
          token,
          message: `The old token ${names} works until ${formatTime(graceEnds)}, under the same limits.`,
        };
      return { token, message: replaces.length === 0 ? '' : `Refused from now on: ${names}.` };
    },
  }),
  add: action({
    title: 'Add a token',
    effect: 'gives a key another token, under the same limits, and shows it, this once',
    inputs: ['label', 'readOnly', 'expires'],
    isApplicable: (view) => isCurrent(view) && !isSuspendedOrDisabled(view),
    run: async (target, { label, readOnly, expires: until }, id) => {
      return { token: await addToken(target, id, { label, access: accessOf(readOnly), until }), message: '' };
    },
  }),
  end: action({
    title: 'Revoke a token',
    alias: 'revoke-token',
    effect: 'ends a token of a key, from the next request on; the key goes on with its others',
    inputs: ['token'],
    isApplicable: ({ tokens }) => tokens.length > 1,
    confirmation: (view, { token }) => endingText(view, token),
    run: async (target, { token }, id) => {
      const view = keyView(await endToken(target, id, token));
      return { view, message: `The token ${token} of ${visible(view.name)} is refused from now on.` };
    },
  }),
  suspend: action({
    title: 'Suspend',
    effect: 'refuses a key from the next request on, for a while or until it is resumed',
    inputs: ['for', 'reason'],
    isApplicable: ({ state, suspendedUntil }) => state !== 'suspended' || suspendedUntil !== null,
    run: async (target, { for: forMs, reason }, id) => {
      const view = await suspendKey(target, id, forMs, reason);
      const end = view.suspendedUntil === null ? 'it is resumed' : formatTime(view.suspendedUntil);
      const message = `${visible(view.name)} is suspended until ${end}`;
      const asked = Date.now() + (forMs ?? NEVER);
      const isLonger = view.suspendedUntil === null ? forMs !== undefined : Date.parse(view.suspendedUntil) > asked;
      return {
        view,
        message: isLonger ? `${message}, as it was before: a shorter time changes nothing.` : `${message}.`,
      };
    },
  }),
  revoke: action({
    title: 'Revoke for good',
    effect: 'ends a key for good, with all its tokens, from the very next request',
    inputs: ['reason'],
    isApplicable: () => true,
    confirmation: ({ state, tokens }) => {
      if (state === 'revoked') return undefined;
      const all = tokens.length === 1 ? 'its token' : `all ${tokens.length} tokens`;
      return `All its requests are refused for good, with ${all}. Nothing takes this back.`;
    },
    run: async (target, { reason }, id) => {
      const key = await findRecord(target, id);
      const view = keyView(await revokeKey(target, key, reason));
      return { view, message: `${visible(key.name)} (${view.id}) is revoked${key.revoked ? ' already' : ''}.` };
    },
  }),
};
