import { InvalidArgumentError } from 'commander';
import ms, { type StringValue } from 'ms';
import { isoTime } from '../../../shared/key-registry/gateway-tags.ts';
import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from '../../../shared/key-registry/record-changes.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import {
  type ExactLimits,
  MAX_PER_DAY,
  MAX_PER_MINUTE,
  type PlanId,
  planIds,
  plans,
} from '../../../shared/keys/plans.ts';
import { mayHaveToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { capitalized, limitsText, formatNumber } from '../service/text.ts';

/** Accepts thousands separators, as numbers are printed. */
export function wholeNumberUpTo(max: number): (text: string) => number {
  return (text) => {
    const isNumber = /^[1-9](?:\d{0,11}|\d{0,2}(?:,\d{3}){1,3})$/.test(text);
    const value = isNumber ? Number(text.replaceAll(',', '')) : Number.NaN;
    if (value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${formatNumber(max)}.`);
  };
}

/** A visible character: no space, no combining mark, nothing that renders blank (such as U+2800). */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;
const MAX_REASON_LENGTH = 200;

/** Parser of text that is stored. @param rule completes the sentence `It must be …` */
function storedText(rule: string, isValid: (text: string) => boolean): (text: string) => string {
  return (typed) => {
    if (mayHaveToken(typed)) throw new InvalidArgumentError('It must not contain a token: every admin can read it.');
    const text = typed.trim().normalize();
    if (text !== '' && !/\p{Cc}/u.test(text) && isValid(text)) return text;
    throw new InvalidArgumentError(`It must be ${rule}.`);
  };
}

const parseName = storedText(
  `1 to ${MAX_NAME_BYTES} bytes of visible text, without control characters`,
  (name) => VISIBLE.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES,
);
const parseLabel = storedText(
  `1 to ${MAX_LABEL_BYTES} bytes of text, without spaces`,
  (label) => !/\s/.test(label) && Buffer.byteLength(label) <= MAX_LABEL_BYTES,
);
const parseReason = storedText(
  `1 to ${MAX_REASON_LENGTH} characters, without control characters`,
  (reason) => reason.length <= MAX_REASON_LENGTH,
);

function parsePlan(text: string): PlanId {
  const plan = planIds.find((id) => id === text);
  if (plan) return plan;
  throw new InvalidArgumentError(`It must be one of ${planIds.join(', ')}.`);
}

const isDuration = (text: string): text is StringValue => /^\d{1,6}(?:s|m|h|d|w|y)$/.test(text);

/** Parses a duration such as `24h`. @returns milliseconds */
function parseDuration(text: string, least = 0): number {
  const value = isDuration(text) ? ms(text) : Number.NaN;
  if (value >= least && value <= ms('10y')) return value;
  throw new InvalidArgumentError('It must be a duration such as 30m, 24h or 7d.');
}

/** Parses a date (its start in UTC), a date and time, a duration or `never`. @returns future Unix milliseconds */
function parseFutureTime(text: string): number {
  if (text === 'never') return NO_EXPIRY;
  const time = isDuration(text) ? Date.now() + parseDuration(text) : isoTime(text);
  if (time > Date.now()) return time;
  throw new InvalidArgumentError(
    Number.isNaN(time)
      ? 'It must be a date such as 2030-12-31, a time such as 2030-12-31T18:00Z, 90d, or never.'
      : 'It must be in the future.',
  );
}

/** Parses a date (its start in UTC), a date and time, or a duration until now. @returns past Unix milliseconds */
export function parsePastTime(text: string): number {
  const time = isDuration(text) ? Date.now() - parseDuration(text) : isoTime(text);
  if (time <= Date.now()) return time;
  throw new InvalidArgumentError('It must be in the past: a date such as 2026-11-01, 2026-11-01T18:00Z, or 7d.');
}

type Choices = readonly (readonly [value: string, text: string])[];

/** An option of the command, and a field of the console. `agreed`: required for a plan with agreed limits only. */
const input =
  <Presence extends 'required' | 'optional' | 'agreed'>(presence: Presence) =>
  <Value>(flag: string, title: string, hint: string, parse: (text: string) => Value, choices?: Choices) =>
    ({ flag, title, hint, presence, parse, choices }) as const;
const [required, optional, agreed] = [input('required'), input('optional'), input('agreed')];

const agreedLimit = (window: 'minute' | 'day', max: number, example: number) => {
  const what = `agreed requests per ${window}`;
  const hint = `${what}, Enterprise only, such as ${example}`;
  return agreed(`--per-${window} <n>`, capitalized(what), hint, wholeNumberUpTo(max));
};

const planChoices = planIds.map((id) => {
  const { title, limits } = plans[id];
  return [id, `${title}: ${limits === 'agreed' ? 'as agreed' : limitsText(limits)}`] as const;
});
const yesOrNo = ['no', 'yes'].map((choice) => [choice, choice] as const);

/** The inputs of all actions on keys. Durations are in milliseconds, and times in Unix milliseconds. */
export const inputs = {
  name: required('--name <name>', 'Name', 'name of the customer; need not be unique', parseName),
  plan: required('--plan <plan>', 'Plan', 'plan of the key', parsePlan, planChoices),
  perMinute: agreedLimit('minute', MAX_PER_MINUTE, 5_000),
  perDay: agreedLimit('day', MAX_PER_DAY, 1_000_000),
  label: required(
    '--label <label>',
    'Label',
    `label of the token, such as reports (max ${MAX_LABEL_BYTES} bytes)`,
    parseLabel,
  ),
  token: required('--token <token>', 'Token', 'label and last four characters, such as main/ly02', (text) =>
    text.trim().normalize(),
  ),
  readOnly: optional('--read-only', 'Read-only', 'allow only requests that read', (text) => text !== 'no', yesOrNo),
  grace: required(
    '--grace <time>',
    'Grace period of the old token',
    'how long the old token stays valid, such as 24h, 7d or 0s',
    (text) => parseDuration(text),
  ),
  expires: optional(
    '--expires <date>',
    'Expires',
    'expiration: 2030-12-31, 2030-12-31T18:00Z, 90d or never',
    parseFutureTime,
  ),
  for: optional('--for <time>', 'Duration', 'duration of the suspension, such as 1h (default: until resumed)', (text) =>
    parseDuration(text, 1),
  ),
  reason: optional(
    '--reason <text>',
    'Reason',
    'reason, recorded in the history; must not contain a token',
    parseReason,
  ),
};

type InputsByName = typeof inputs;

/** Values of an action on keys, parsed from the command's options or the console's fields. */
export type Inputs = {
  readonly [Name in keyof InputsByName]:
    ReturnType<InputsByName[Name]['parse']> | (InputsByName[Name]['presence'] extends 'required' ? never : undefined);
};

/** The limits of a plan, or the agreed ones, which Enterprise alone requires and accepts. @throws AdminError */
export function limitsOn(
  plan: PlanId,
  { perMinute, perDay }: { readonly [Name in keyof ExactLimits]?: number | undefined },
  { maxEnterpriseLimits: max, place }: Pick<Target, 'maxEnterpriseLimits' | 'place'>,
): ExactLimits {
  const cataloged = plans[plan].limits;
  if (cataloged !== 'agreed') {
    if (perMinute === undefined && perDay === undefined) return cataloged;
    throw new AdminError(`The plan ${plan} has fixed limits. Leave out --per-minute and --per-day.`);
  }
  if (perMinute === undefined || perDay === undefined)
    throw new AdminError('The Enterprise plan needs its agreed limits: --per-minute N --per-day N.');
  if (perMinute > max.perMinute || perDay > max.perDay)
    throw new AdminError(
      `${capitalized(place)} accepts at most ${limitsText(max)}. First raise maxEnterpriseLimits in infra/stages.ts, and deploy.`,
    );
  return { perMinute, perDay };
}
