import { plans } from '../../../shared/keys/plans.ts';
import { type Inputs, limitsOn } from '../inputs.ts';
import { type Done, type KeyAction, keyActions, REVOKE_EFFECT } from '../key-actions.ts';
import { revokedText } from '../key-text.ts';
import type { KeyView } from '../keys/key-view.ts';
import { findRecord } from '../keys/find-key.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import type { Target } from '../target.ts';
import { limitsText, number, time, visible } from '../text-format.ts';
import type { Field } from './markup.ts';
import { fieldOf, FormFault, parseInputs, type Texts } from './site.ts';

/** A form of the page of a key. */
export interface KeyCard extends Pick<KeyAction, 'title' | 'effect' | 'suits'> {
  readonly fields: (view: KeyView) => readonly Field[];
  readonly proposed: (view: KeyView) => Texts;
  /** What it refuses the customer, in sentences; undefined: nothing, and it is done without a question. @throws FormFault */
  readonly refuses: (target: Target, view: KeyView, texts: Texts) => string | undefined;
  /** Fields of the question. */
  readonly confirmation: readonly Field[];
  readonly run: (target: Target, texts: Texts, id: string) => Promise<Done>;
  /** Whether it stands apart. */
  readonly isDangerous: boolean;
}

/** What an action refuses, given its inputs. */
const refusals: Readonly<Record<string, (target: Target, view: KeyView, inputs: Inputs) => string | undefined>> = {
  suspend: (_, __, { for: forMs }) => {
    const end = forMs === undefined ? 'an admin resumes it' : time(new Date(Date.now() + forMs).toISOString());
    return `All its requests are refused until ${end}.`;
  },
  rotate: (_, view, { label, grace }) => {
    const names = shownTokens(view, label);
    if (grace > 0 || names.length === 0) return undefined;
    return `Requests with ${names.join(' or ')} are refused at once, before their user has the new one.`;
  },
  move: ({ stage }, { perMinute, perDay, usedThisMinute, usedToday }, { plan, ...agreed }) => {
    const limits = limitsOn(plan, agreed, stage);
    if (limits.perMinute >= perMinute && limits.perDay >= perDay) return undefined;
    const isUsedUp = usedThisMinute >= limits.perMinute || usedToday >= limits.perDay;
    const now = isUsedUp ? ' It has used that up already, so its next request is refused.' : '';
    return `Its limits go down to ${limitsText(limits)}: requests above that are refused.${now}`;
  },
};

const dangers: ReadonlySet<string> = new Set(['suspend', 'end']);

const actionCard = (name: string, { inputs, run, defaults, asks, ...action }: KeyAction): KeyCard => ({
  ...action,
  fields: (view) => inputs.map((input) => ({ ...fieldOf(input), ...choicesOf(name, input, view) })),
  proposed: (view) => ({ ...agreedLimits(view), ...defaults }),
  refuses: (target, view, texts) => {
    const values = parseInputs(inputs, texts);
    return asks ? asks(view, values) : refusals[name]?.(target, view, values);
  },
  confirmation: [],
  run: (target, texts, id) => run(target, parseInputs(inputs, texts), id),
  isDangerous: dangers.has(name),
});

/** A plan but its own, whose limits can be agreed anew; a token that it has. */
function choicesOf(action: string, input: keyof Inputs, view: KeyView): Pick<Field, 'choices'> | undefined {
  if (input === 'plan') {
    const others = fieldOf('plan').choices?.filter(([id]) => id !== view.plan || plans[view.plan].limits === 'agreed');
    return { choices: [['', 'Choose a plan'], ...(others ?? [])] };
  }
  if (input === 'token')
    return { choices: view.tokens.map(({ name, since }) => [name, `${name}, since ${time(since)}`]) };
  return input === 'label' && action === 'rotate' ? { choices: [...newestTokens(view)] } : undefined;
}

/** The name of the token that a rotation replaces, by its label. */
function newestTokens({ tokens }: KeyView): ReadonlyMap<string, string> {
  const shownLast = tokens.toSorted((one, other) => Number(other.neverShown) - Number(one.neverShown));
  return new Map(shownLast.map(({ label, name }) => [label, name]));
}

/** The names of the tokens with a label that are in use: the newest, and those that are in their grace. */
const shownTokens = ({ tokens }: KeyView, label: string): string[] =>
  tokens.filter((token) => token.label === label && !token.neverShown).map(({ name }) => name);

function agreedLimits({ plan, perMinute, perDay }: KeyView): Texts {
  return plans[plan].limits === 'agreed' ? { plan, perMinute: String(perMinute), perDay: String(perDay) } : {};
}

/** A name as it can be typed, and as a page shows it. */
const asTyped = (name: string): string => visible(name).replaceAll(/ +/g, ' ').trim();

export const keyCards: Readonly<Record<string, KeyCard>> = {
  ...Object.fromEntries(Object.entries(keyActions).map(([name, action]) => [name, actionCard(name, action)])),
  revoke: {
    title: 'Revoke for good',
    effect: REVOKE_EFFECT,
    fields: () => [],
    proposed: () => ({}),
    suits: () => true,
    refuses: (_, { tokens }) =>
      `All its requests are refused for good, with ${tokens.length === 1 ? 'its token' : `all ${number(tokens.length)} tokens`}. Nothing takes this back.`,
    confirmation: [{ name: 'name', label: 'To confirm, enter the name of the key' }],
    run: async (target, { name = '' }, id) => {
      const key = await findRecord(target, id);
      if (asTyped(name) !== asTyped(key.name)) throw new FormFault({ name: `The name is ${key.name}.` });
      await revokeKey(target, key);
      return { message: revokedText(key) };
    },
    isDangerous: true,
  },
};
