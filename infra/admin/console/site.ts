import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { failureText } from '../admin-error.ts';
import { type Inputs, inputs } from '../inputs.ts';
import type { Target } from '../target.ts';
import { withTarget } from '../text-format.ts';
import { Tickets } from './guard.ts';
import { type Field, type Html, layout, markup, type Page, sentence, type Sent } from './markup.ts';

type PageResponse = Response | Promise<Response>;

/** What the pages of the console work with. */
export class Site {
  readonly target: Target;
  /** Begins the path of every page. */
  readonly base: string;
  readonly tickets = new Tickets();
  /** What was done, for the page that is shown next, by the id in its address. */
  readonly #notes = new Map<string, string>();

  constructor(target: Target, base: string) {
    this.target = target;
    this.base = base;
  }

  /** A whole page, with what was done just now. A page with a failure has the status of one, 422 by default. */
  show(c: Context, page: Page, content: Html, failed: 404 | 422 | 500 = 422): PageResponse {
    const { done = '' } = c.req.query();
    const note = this.#notes.get(done);
    this.#notes.delete(done);
    const { place, option } = this.target;
    const frame = { place, base: this.base, address: c.req.url };
    const failure = page.failure && withTarget(page.failure, option);
    return c.html(layout({ note, ...frame, ...page, failure }, content), failure === undefined ? 200 : failed);
  }

  /** To a page that says what was done; loaded again, it does nothing again. */
  redirect(c: Context, path: string, note: string): Response {
    const id = String(Math.random()).slice(2);
    this.#notes.set(id, note);
    const address = new URL(this.base + path, c.req.url);
    address.searchParams.set('done', id);
    return c.redirect(address.pathname + address.search, 303);
  }

  /** A form that can be sent once. @param attributes of the form, such as how it sends files */
  form(path: string, button: Html, fields: readonly Html[], attributes?: Html): Html {
    return markup`<form method="post" action="${this.base}${path}" ${attributes ?? ''}>
<input type="hidden" name="ticket" value="${this.tickets.issue(path)}">
${fields}
${button}</form>`;
  }
}

/** What is wrong with the fields of a form. */
export class FormFault extends Error {
  override readonly name = 'FormFault';
  readonly faults: Texts;

  constructor(faults: Texts) {
    super('The fields say what is wrong. Nothing was done.');
    this.faults = faults;
  }
}

/** The fields of a form as they were sent. */
export type Texts = Sent['values'];
type Parsers = Readonly<Record<string, (text: string) => unknown>>;
type Parsed<Fields extends Parsers> = { readonly [Name in keyof Fields]: ReturnType<Fields[Name]> };

/** Reads fields by their rules, which throw InvalidArgumentError. @throws FormFault that has all faults */
export function parseForm<Fields extends Parsers>(values: Texts, fields: Fields): Parsed<Fields> {
  const faults: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const [name, parse] of Object.entries(fields)) {
    try {
      parsed[name] = parse((values[name] ?? '').trim());
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

/** The inputs of an action, from the fields that {@link fieldOf} makes of them. @throws FormFault */
export function parseInputs(names: readonly (keyof Inputs)[], values: Texts): Inputs {
  const isAgreed = values['plan'] === 'enterprise';
  const parserOf = (name: keyof Inputs): Parsers[string] => {
    const { presence, parse } = inputs[name];
    // Limits that are not agreed on are not shown either.
    if (presence === 'agreed' && !isAgreed) return () => undefined;
    return (text) => (presence === 'optional' && text === '' ? undefined : parse(text));
  };
  const parsed: object = parseForm(values, Object.fromEntries(names.map((name) => [name, parserOf(name)])));
  // An action goes by no inputs but its own.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return parsed as Inputs;
}

export function fieldOf(name: keyof Inputs): Field {
  const { title, hint, presence, choices } = inputs[name];
  return { name, label: title, hint: sentence(hint), choices, isNumber: presence === 'agreed' };
}

/**
 * Has a form do something; where that is refused, its page is shown again with what was sent.
 *
 * @param effectAgain what it comes to if it is sent again after a failure; by default it takes up what was cut off
 */
export function onForm(
  app: Hono,
  path: string,
  work: (c: Context, values: Texts) => PageResponse,
  showAgain: (c: Context, sent: Sent) => PageResponse,
  effectAgain?: string,
): void {
  app.post(path, async (c) => {
    const body = Object.entries(await c.req.parseBody());
    const values = Object.fromEntries(
      body.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
    try {
      return await work(c, values);
    } catch (error) {
      return showAgain(c, refusal(values, error, effectAgain));
    }
  });
}

/** What was sent, and why it was not done. @throws faults of the program */
function refusal(values: Texts, error: unknown, effectAgain?: string): Sent {
  if (error instanceof FormFault) return { values, faults: error.faults, failure: error.message };
  const failure = failureText(error, 'send the form again', effectAgain);
  if (failure === undefined) throw error;
  return { values, faults: {}, failure };
}
