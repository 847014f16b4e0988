import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { failureText } from '../service/failures.ts';
import { type Inputs, inputs } from '../keys/inputs.ts';
import type { KeyAction } from '../keys/key-actions.ts';
import type { Target } from '../service/target.ts';
import { withTarget } from '../service/text.ts';
import { type Field, type Html, layout, markup, type Page, sentence, type Sent } from './markup.ts';

type PageResponse = Response | Promise<Response>;

/** Shared context of the console's pages. */
export class Site {
  readonly target: Target;
  /** Path prefix of every page. */
  readonly base: string;

  constructor(target: Target, base: string) {
    this.target = target;
    this.base = base;
  }

  /** Renders a page. With a failure, its status is an error, 422 by default. */
  show(c: Context, page: Page, content: Html, failed: 404 | 422 | 500 = 422): PageResponse {
    const { place, option } = this.target;
    const frame = { note: c.req.query('done'), place, base: this.base, address: c.req.url };
    const failure = page.failure && withTarget(page.failure, option);
    return c.html(layout({ ...frame, ...page, failure }, content), failure === undefined ? 200 : failed);
  }

  /** Redirects to a page with the result, so that a reload does not repeat the action. */
  redirect(c: Context, path: string, done: string): Response {
    return c.redirect(`${this.base}${path}?${new URLSearchParams({ done }).toString()}`, 303);
  }

  /** @param attributes of the form, such as its encoding */
  form(path: string, button: Html, fields: readonly Html[], attributes?: Html): Html {
    return markup`<form method="post" action="${this.base}${path}" ${attributes ?? ''}>${fields}${button}</form>`;
  }
}

/** Errors of a form's fields. */
class FormError extends Error {
  override readonly name = 'FormError';
  readonly fieldErrors: Sent['values'];

  constructor(fieldErrors: Sent['values']) {
    super('Nothing was changed. Correct the marked fields.');
    this.fieldErrors = fieldErrors;
  }
}

/** Parses the fields of {@link fieldOf} as inputs of an action. @throws FormError with all errors */
export function parseInputs(action: Pick<KeyAction, 'inputs' | 'allOptional'>, values: Sent['values']): Inputs {
  const fieldErrors: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const name of action.inputs) {
    const { parse } = inputs[name];
    const presence = action.allOptional ? 'optional' : inputs[name].presence;
    const text = (values[name] ?? '').trim();
    // Fields of agreed limits are hidden for other plans.
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
  // Each value was parsed by its own parser, and an action reads only its own inputs.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return complete as Inputs;
}

export function fieldOf(name: keyof Inputs): Field {
  const { title, hint, presence, choices } = inputs[name];
  return { name, label: title, hint: sentence(hint), choices, isNumber: presence === 'agreed' };
}

/**
 * Runs the action of a form. If it fails, its page is shown with the submitted values.
 *
 * @param retryEffect effect of submitting it again after a failure; by default it completes the interrupted work
 */
export function onForm(
  app: Hono,
  path: string,
  work: (c: Context, values: Sent['values']) => PageResponse,
  showAgain: (c: Context, sent: Sent) => PageResponse,
  retryEffect?: string,
): void {
  app.post(path, async (c) => {
    const body = Object.entries(await c.req.parseBody().catch(() => ({})));
    const values = Object.fromEntries(body.filter((field): field is [string, string] => typeof field[1] === 'string'));
    try {
      return await work(c, values);
    } catch (error) {
      const fieldErrors = error instanceof FormError ? error.fieldErrors : {};
      const formError =
        error instanceof FormError ? error.message : failureText(error, 'submit the form again', retryEffect);
      if (formError === undefined) throw error;
      return showAgain(c, { values, fieldErrors, formError });
    }
  });
}
