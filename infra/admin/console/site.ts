import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { failureText } from '../admin-error.ts';
import { type Inputs, inputs } from '../inputs.ts';
import type { KeyAction } from '../key-actions.ts';
import type { Target } from '../target.ts';
import { withTarget } from '../text-format.ts';
import { type Field, type Html, layout, markup, type Page, sentence, type Sent } from './markup.ts';

type PageResponse = Response | Promise<Response>;

/** What the pages of the console work with. */
export class Site {
  readonly target: Target;
  /** Begins the path of every page. */
  readonly base: string;

  constructor(target: Target, base: string) {
    this.target = target;
    this.base = base;
  }

  /** A whole page, with what was done just now. A page with a failure has the status of one, 422 by default. */
  show(c: Context, page: Page, content: Html, failed: 404 | 422 | 500 = 422): PageResponse {
    const { place, option } = this.target;
    const frame = { note: c.req.query('done'), place, base: this.base, address: c.req.url };
    const failure = page.failure && withTarget(page.failure, option);
    return c.html(layout({ ...frame, ...page, failure }, content), failure === undefined ? 200 : failed);
  }

  /** To a page that says what was done; loaded again, it does nothing again. */
  redirect(c: Context, path: string, done: string): Response {
    return c.redirect(`${this.base}${path}?${new URLSearchParams({ done }).toString()}`, 303);
  }

  /** @param attributes of the form, such as how it sends files */
  form(path: string, button: Html, fields: readonly Html[], attributes?: Html): Html {
    return markup`<form method="post" action="${this.base}${path}" ${attributes ?? ''}>${fields}${button}</form>`;
  }
}

/** What is wrong with the fields of a form. */
class FormError extends Error {
  override readonly name = 'FormError';
  readonly fieldErrors: Sent['values'];

  constructor(fieldErrors: Sent['values']) {
    super('Nothing was done: correct the marked fields.');
    this.fieldErrors = fieldErrors;
  }
}

/** The inputs of an action, from the fields that {@link fieldOf} makes. @throws FormError that names all faults */
export function parseInputs(action: Pick<KeyAction, 'inputs' | 'allOptional'>, values: Sent['values']): Inputs {
  const fieldErrors: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const name of action.inputs) {
    const { parse } = inputs[name];
    const presence = action.allOptional ? 'optional' : inputs[name].presence;
    const text = (values[name] ?? '').trim();
    // Limits that are not agreed on are not shown either.
    if (presence === 'agreed' ? values['plan'] !== 'enterprise' : presence === 'optional' && text === '') continue;
    try {
      parsed[name] = parse(text);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      fieldErrors[name] = error.message;
    }
  }
  if (Object.keys(fieldErrors).length > 0) throw new FormError(fieldErrors);
  const complete: object = parsed;
  // Each field has gone through its own parser, and an action goes by no inputs but its own.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return complete as Inputs;
}

export function fieldOf(name: keyof Inputs): Field {
  const { title, hint, presence, choices } = inputs[name];
  return { name, label: title, hint: sentence(hint), choices, isNumber: presence === 'agreed' };
}

/**
 * Does what a form is for. Where that fails, its page is shown again with what was sent.
 *
 * @param effectAgain the effect of sending it again after a failure; by default it takes up what was cut off
 */
export function onForm(
  app: Hono,
  path: string,
  work: (c: Context, values: Sent['values']) => PageResponse,
  showAgain: (c: Context, sent: Sent) => PageResponse,
  effectAgain?: string,
): void {
  app.post(path, async (c) => {
    const body = Object.entries(await c.req.parseBody().catch(() => ({})));
    const values = Object.fromEntries(body.filter((field): field is [string, string] => typeof field[1] === 'string'));
    try {
      return await work(c, values);
    } catch (error) {
      const fieldErrors = error instanceof FormError ? error.fieldErrors : {};
      const formError =
        error instanceof FormError ? error.message : failureText(error, 'send the form again', effectAgain);
      if (formError === undefined) throw error;
      return showAgain(c, { values, fieldErrors, formError });
    }
  });
}
