import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { failureText } from '../admin-error.ts';
import { parsePerDay, parsePerMinute } from '../inputs.ts';
import type { Target } from '../target.ts';
import { limitsText } from '../words.ts';
import type { Tickets } from './guard.ts';
import type { KeyList } from './key-list.ts';
import { type Field, type Html, layout, markup, type Page, type Sent } from './markup.ts';

/** What the pages of the console work with. */
export interface Site {
  readonly target: Target;
  /** Begins the path of every page. */
  readonly base: string;
  readonly tickets: Tickets;
  readonly keys: KeyList;
  /** What was done, for the page that is shown next, by the id in its address. */
  readonly notes: Map<string, string>;
}

type Answer = Response | Promise<Response>;

/** A whole page; with what was done just now, once. Where something was refused, that is its status. */
export function show(c: Context, site: Site, page: Page, content: Html, isRefused = false): Answer {
  const { notes } = site;
  const { done = '' } = c.req.query();
  const note = notes.get(done);
  notes.delete(done);
  return c.html(layout({ note, ...page, ...frame(c, site) }, content), isRefused ? 422 : 200);
}

/** What all pages have for a browser that was let in. */
export const frame = (c: Context, { target, base }: Pick<Site, 'target' | 'base'>) => ({
  place: target.place,
  base,
  address: c.req.url,
});

/** A part of a page for its script, or a page of its own for a browser without one. */
export const showPart = (c: Context, site: Site, page: Page, content: Html): Answer =>
  c.req.header('Sec-Fetch-Dest') === 'document' ? show(c, site, page, content) : c.html(content);

/** To a page that says what was done; loaded again, it does nothing again. */
export function redirectTo(c: Context, { base, notes }: Site, path: string, note: string): Response {
  const id = String(Math.random()).slice(2);
  notes.set(id, note);
  return c.redirect(`${base}${path}${path.includes('?') ? '&' : '?'}done=${id}`, 303);
}

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
export const form = ({ base, tickets }: Site, path: string, button: Html, fields: Html, attributes?: Html): Html =>
  markup`<form method="post" action="${base}${path}" ${attributes ?? ''}>
<input type="hidden" name="ticket" value="${tickets.issue(path)}">
${fields}
${button}</form>`;
