import { InvalidArgumentError } from 'commander';
import type { Context } from 'hono';
import type { StageName } from '../../stages.ts';
import { failureText } from '../admin-error.ts';
import { agreedLimits } from '../keys/agreed-limits.ts';
import { parsePerDay, parsePerMinute } from '../inputs.ts';
import { type Limits, type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { limitsText } from '../words.ts';
import type { Field, Html, Sent } from './markup.ts';
import { markup } from './markup.ts';
import type { Site } from './site.ts';

/** What is wrong with the fields of a form. */
export class FormFault extends Error {
  override readonly name = 'FormFault';
  readonly faults: Sent['faults'];

  constructor(faults: Sent['faults']) {
    super('What is wrong is said beside the fields. Nothing was done.');
    this.faults = faults;
  }
}

type Values = Sent['values'];
type Parsers = Readonly<Record<string, (text: string) => unknown>>;
type Parsed<Fields extends Parsers> = { readonly [Name in keyof Fields]: ReturnType<Fields[Name]> };

/** Reads fields by their rules, which throw InvalidArgumentError. @throws FormFault that has all faults */
export function parseForm<Fields extends Parsers>(values: Values, fields: Fields): Parsed<Fields> {
  const faults: Record<string, string> = {};
  const parsed = Object.entries(fields).map(([name, parse]) => {
    try {
      return [name, parse(values[name] ?? '')];
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      faults[name] = error.message;
      return [name, undefined];
    }
  });
  if (Object.keys(faults).length > 0) throw new FormFault(faults);
  // Each field has gone through its own parser.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(parsed) as Parsed<Fields>;
}

/** A field that may be left empty. */
export const optional =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value | undefined =>
    text.trim() === '' ? undefined : parse(text.trim());

/** The fields of a form, as text. */
export async function valuesOf(c: Context): Promise<Values> {
  const body = Object.entries(await c.req.parseBody());
  return Object.fromEntries(body.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
}

/** What was sent, and why it was not done. */
export interface Refused {
  readonly sent: Sent;
  readonly failure: string;
}

type Outcome<Result> = { readonly done: Result } | Refused;

/** Does what a form asks for. @throws faults of the program */
export async function attempt<Result>(values: Values, work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { done: await work() };
  } catch (error) {
    if (error instanceof FormFault) return { sent: { values, faults: error.faults }, failure: error.message };
    const failure = failureText(error, 'send the form again');
    if (failure === undefined) throw error;
    return { sent: { values, faults: {} }, failure };
  }
}

const wholeNumbers = markup`inputmode="numeric"`;

/** A plan, and the limits that are agreed for Enterprise. */
export const planFields: readonly Field[] = [
  {
    name: 'plan',
    label: 'Plan',
    options: planIds.map((id) => {
      const { title, limits } = plans[id];
      return [id, `${title}: ${limits === 'agreed' ? 'as agreed' : limitsText(limits)}`] as const;
    }),
  },
  { name: 'perMinute', label: 'Agreed requests a minute', hint: 'Such as 5000.', attributes: wholeNumbers },
  { name: 'perDay', label: 'Agreed requests a day', hint: 'Such as 1000000.', attributes: wholeNumbers },
];

/** Rules of {@link planFields}: limits count with Enterprise alone, where the form shows them. */
export const planParsers = ({ plan }: Values) => {
  const isAgreed = plan === 'enterprise';
  return {
    plan: parsePlan,
    perMinute: isAgreed ? parsePerMinute : (): undefined => undefined,
    perDay: isAgreed ? parsePerDay : (): undefined => undefined,
  };
};

type PlanValues = { readonly plan: PlanId } & { readonly [Name in keyof Limits]: Limits[Name] | undefined };

export function limitsFor({ plan, perMinute, perDay }: PlanValues, stage: StageName | undefined): Limits | undefined {
  const given = perMinute === undefined || perDay === undefined ? {} : { perMinute, perDay };
  return agreedLimits(plan, given, stage);
}

function parsePlan(text: string): PlanId {
  const plan = planIds.find((id) => id === text);
  if (plan) return plan;
  throw new InvalidArgumentError(`It must be one of ${planIds.join(', ')}.`);
}

export interface FormParts {
  readonly button: string;
  readonly isDangerous?: boolean;
  /** It sends a file. */
  readonly hasFile?: boolean;
}

/** A form that can be sent once. */
export function form({ tickets }: Site, path: string, { button, isDangerous, hasFile }: FormParts, fields: Html): Html {
  return markup`<form method="post" action="${path}" ${hasFile ? markup`enctype="multipart/form-data"` : ''}>
<input type="hidden" name="ticket" value="${tickets.issue(path)}">
${fields}
<button ${isDangerous ? markup`class="danger"` : ''}>${button}</button></form>`;
}
