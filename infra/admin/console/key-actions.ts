import { plans } from '../../../shared/keys/plans.ts';
import { limitsOn, parseDuration, parseLasting } from '../inputs.ts';
import type { NewKey } from '../keys/create-key.ts';
import type { KeyView } from '../keys/key-view.ts';
import { moveKey } from '../keys/move-key.ts';
import { findDoomedKey, revokeKey } from '../keys/revoke-key.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import type { Target } from '../target.ts';
import { type effects, moved, resumed, revoked, rotated, suspended, visible } from '../words.ts';
import type { Field } from './markup.ts';
import { FormFault, optional, parseForm, planFields, planParsers, type Values } from './site.ts';

/** What was done, in words; and the new key, where there is one. */
export type Done = string | { readonly newKey: NewKey; readonly text: string };

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
const isCurrent = ({ state }: KeyView): boolean => state !== 'rotated' && state !== 'expired';

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
    fields: [{ name: 'grace', label: 'Grace of the old key', hint: 'Such as 24h, 7d, or 0s to end it at once.' }],
    proposed: () => ({ grace: '24h' }),
    suits: (view) => isCurrent(view) && !isClosed(view),
    run: async (target, id, values) => {
      const rotation = await rotateKey(target, id, parseForm(values, { grace: parseDuration }).grace);
      return { newKey: rotation, text: rotated(rotation) };
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
      const doomed = await findDoomedKey(target, id);
      if (asTyped(name) !== asTyped(doomed.record.name))
        throw new FormFault({ name: `The name is ${doomed.record.name}.` });
      return revoked(doomed.record, await revokeKey(target, doomed));
    },
  },
};
