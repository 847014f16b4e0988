import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { failureText } from '../admin-error.ts';
import { parsePerDay, parsePerMinute } from '../inputs.ts';
import { limitsText } from '../words.ts';
import { type Field, type Html, markup, type Sent } from './markup.ts';
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

/** The fields of a form, as text. */
export type Values = Sent['values'];
type Parsers = Readonly<Record<string, (text: string) => unknown>>;
type Parsed<Fields extends Parsers> = { readonly [Name in keyof Fields]: ReturnType<Fields[Name]> };

/** Reads fields by their rules, which throw InvalidArgumentError. @throws FormFault that has all faults */
export function parseForm<Fields extends Parsers>(values: Values, fields: Fields): Parsed<Fields> {
  const faults: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const [name, parse] of Object.entries(fields)) {
    try {
      parsed[name] = parse(values[name] ?? '');
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      faults[name] = error.message;
    }
  }
  if (Object.keys(faults).length > 0) throw new FormFault(faults);
  // Each field has gone through its own parser.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return parsed as Parsed<Fields>;
}

/** A field that may be left empty. */
export const optional =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value | undefined =>
    text.trim() === '' ? undefined : parse(text.trim());

/** What was sent, and why it was not done. */
export interface Refused {
  readonly sent: Sent;
  readonly failure: string;
}

/** Why something was not done, for the page. @throws faults of the program */
export function refusal(values: Values, error: unknown): Refused {
  if (error instanceof FormFault) return { sent: { values, faults: error.faults }, failure: error.message };
  const failure = failureText(error, 'send the form again');
  if (failure === undefined) throw error;
  return { sent: { values, faults: {} }, failure };
}

type Answer = Response | Promise<Response>;

/** Has a form do something; where that is refused, its page is shown again with what was sent. */
export function onForm(
  app: Hono,
  path: string,
  work: (c: Context, values: Values) => Promise<Response>,
  showAgain: (c: Context, refused: Refused) => Answer,
): void {
  app.post(path, async (c) => {
    const body = Object.entries(await c.req.parseBody());
    const values = Object.fromEntries(
      body.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
    try {
      return await work(c, values);
    } catch (error) {
      return showAgain(c, refusal(values, error));
    }
  });
}

export const numeric = markup`inputmode="numeric"`;

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
  { name: 'perMinute', label: 'Agreed requests a minute', hint: 'Such as 5000.', attributes: numeric },
  { name: 'perDay', label: 'Agreed requests a day', hint: 'Such as 1000000.', attributes: numeric },
];

/** Rules of {@link planFields}: limits count with Enterprise alone, where the form shows them. */
export function planParsers({ plan }: Values) {
  const whereAgreed = (parse: (text: string) => number) => (plan === 'enterprise' ? parse : () => undefined);
  return { plan: parsePlan, perMinute: whereAgreed(parsePerMinute), perDay: whereAgreed(parsePerDay) };
}

function parsePlan(text: string): PlanId {
  const plan = planIds.find((id) => id === text);
  if (plan) return plan;
  throw new InvalidArgumentError(`It must be one of ${planIds.join(', ')}.`);
}

/** A form that can be sent once. @param attributes of its button, and of itself, such as how it sends files */
export const form = ({ tickets }: Site, path: string, button: Html, fields: Html, attributes?: Html): Html =>
  markup`<form method="post" action="${path}" ${attributes ?? ''}>
<input type="hidden" name="ticket" value="${tickets.issue(path)}">
${fields}
${button}</form>`;
