import { plans } from '../../../shared/keys/plans.ts';
import { limitsOn, parseDuration, parseFutureTime, parseLabel, parseLasting } from '../inputs.ts';
import { addToken } from '../keys/add-token.ts';
import { endToken } from '../keys/end-token.ts';
import type { KeyView } from '../keys/key-view.ts';
import { moveKey } from '../keys/move-key.ts';
import type { NewToken } from '../keys/new-token.ts';
import { findKeyToRevoke, revokeKey } from '../keys/revoke-key.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import type { Target } from '../target.ts';
import { visible } from '../text-format.ts';
import { type effects, ended, moved, resumed, revoked, rotated, suspended } from '../words.ts';
import type { Field } from './markup.ts';
import { FormFault, optional, parseForm, planFields, planParsers, type Values } from './site.ts';

/** What was done, in words; and the new token, where there is one. */
export type Done = string | { readonly newToken: NewToken; readonly text: string };

export interface KeyAction {
  readonly title: string;
  readonly effect: keyof typeof effects;
  readonly fields?: readonly Field[];
  /** What the fields have before anything is entered. */
  readonly proposed?: (view: KeyView) => Values;
  /** Whether it makes sense on a key. */
  readonly suits: (view: KeyView) => boolean;
  readonly run: (target: Target, id: string, values: Values) => Promise<Done>;
}

const isClosed = ({ state }: KeyView): boolean => state === 'suspended' || state === 'disabled';
const isCurrent = ({ state }: KeyView): boolean => state !== 'expired';

const labelField: Field = { name: 'label', label: 'Token', hint: 'Its label, as in the list of tokens.' };

/** A name as it can be typed, and as a page shows it. */
const asTyped = (name: string): string => visible(name).replaceAll(/ +/g, ' ').trim();

export const keyActions: Readonly<Record<string, KeyAction>> = {
  resume: {
    title: 'Resume',
    effect: 'resume',
    suits: isClosed,
    run: async (target, id) => resumed(await resumeKey(target, id)),
  },
  move: {
    title: 'Move',
    effect: 'move',
    fields: planFields,
    proposed: ({ plan, perMinute, perDay }) => ({
      plan,
      ...(plans[plan].limits === 'agreed' && { perMinute: String(perMinute), perDay: String(perDay) }),
    }),
    suits: isCurrent,
    run: async (target, id, values) => {
      const fields = parseForm(values, planParsers(values));
      const view = await moveKey(target, id, fields.plan, limitsOn(fields.plan, fields, target.stage));
      return moved(view) + (view.state === 'active' ? '' : ` It stays ${view.state}.`);
    },
  },
  rotate: {
    title: 'Rotate',
    effect: 'rotate',
    fields: [
      labelField,
      { name: 'grace', label: 'Grace of the old token', hint: 'Such as 24h, 7d, or 0s to end it at once.' },
    ],
    proposed: ({ tokens }) => ({ label: tokens[0]?.label ?? '', grace: '24h' }),
    suits: (view) => isCurrent(view) && !isClosed(view),
    run: async (target, id, values) => {
      const { label, grace: graceMs } = parseForm(values, { label: parseLabel, grace: parseDuration });
      const rotation = await rotateKey(target, id, { label, graceMs });
      return { newToken: rotation, text: rotated(rotation) };
    },
  },
  add: {
    title: 'Add a token',
    effect: 'add',
    fields: [
      { ...labelField, hint: 'What it is for, such as reports.' },
      {
        name: 'access',
        label: 'It may',
        options: [
          ['full', 'read and change'],
          ['read', 'only read'],
        ],
      },
      { name: 'expires', label: 'Ends', hint: 'Such as 2030-12-31 or 90d. Empty: when it is ended.' },
    ],
    suits: (view) => isCurrent(view) && !isClosed(view),
    run: async (target, id, values) => {
      const rules = { label: parseLabel, expires: optional(parseFutureTime) };
      const { label, expires: until } = parseForm(values, rules);
      const access = values['access'] === 'full' ? 'full' : 'read';
      return { newToken: await addToken(target, id, { label, access, until }), text: '' };
    },
  },
  end: {
    title: 'End a token',
    effect: 'end',
    fields: [labelField],
    suits: ({ tokens }) => tokens.length > 1,
    run: async (target, id, values) => {
      const { label } = parseForm(values, { label: parseLabel });
      return ended(await endToken(target, id, label), label);
    },
  },
  suspend: {
    title: 'Suspend',
    effect: 'suspend',
    fields: [{ name: 'for', label: 'For how long', hint: 'Such as 1h. Empty: until it is resumed.' }],
    suits: () => true,
    run: async (target, id, values) =>
      suspended(await suspendKey(target, id, parseForm(values, { for: optional(parseLasting) }).for)),
  },
  revoke: {
    title: 'Revoke for good',
    effect: 'revoke',
    fields: [{ name: 'name', label: 'To confirm, enter the name of the key' }],
    suits: () => true,
    run: async (target, id, { name = '' }) => {
      const key = await findKeyToRevoke(target, id);
      if (asTyped(name) !== asTyped(key.name)) throw new FormFault({ name: `The name is ${key.name}.` });
      await revokeKey(target, key);
      return revoked(key);
    },
  },
};
