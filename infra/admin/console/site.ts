import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError, awsReason, failureText } from '../service/failures.ts';
import { allRecords, findRecord } from '../keys/find-key.ts';
import { type Inputs, inputs } from '../keys/inputs.ts';
import type { KeyAction } from '../keys/key-actions.ts';
import type { Target } from '../service/target.ts';
import { withTarget } from '../service/text.ts';
import { type Field, type Html, layout, markup, numeric, type Page, sentence, type Sent } from './markup.ts';

type PageResponse = Response | Promise<Response>;

/** Maximum entries of each map below: more than a service has keys. */
const MAX_KEPT = 20_000;

export class Site {
  readonly target: Target;
  readonly base: string;
  /** Record ids by the ids of keys. */
  readonly #recordIds = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  constructor(target: Target, base: string) {
    this.target = target;
    this.base = base;
  }

  /** All valid records, which {@link key} can then read alone. */
  async keys(): Promise<KeyRecord[]> {
    const records = await allRecords(this.target);
    for (const record of records) remember(this.#recordIds, idOf(record), record.recordId);
    return records;
  }

  /** Reads one key: its record alone, once a list or a first search has found it. @throws UnknownKeyError */
  async key(id: string): Promise<KeyRecord> {
    const recordId = this.#recordIds.get(id);
    const known = recordId === undefined ? undefined : await this.target.keyTable.get(recordId);
    // A key that was restored has another id.
    if (known && idOf(known) === id) return known;
    const found = await findRecord(this.target, id);
    remember(this.#recordIds, idOf(found), found.recordId);
    return found;
  }

  /** Keeps text that was typed out of addresses, which browsers store. @returns its id for an address */
  keep(text: string): string {
    const id = randomUUID();
    remember(this.#texts, id, text);
    return id;
  }

  /** The text with an id of {@link keep}; undefined if it was evicted. */
  kept = (id = ''): string | undefined => this.#texts.get(id);

  /** Renders a page. With a failure, its status is an error, 422 by default. */
  show(c: Context, page: Page, content?: Html, failed: 404 | 422 | 500 = 422): PageResponse {
    const { place, option } = this.target;
    const { done = '' } = c.req.query();
    const frame = { note: this.kept(done), place, base: this.base, address: c.req.url };
    this.#texts.delete(done);
    const failure = page.failure && withTarget(page.failure, option);
    return c.html(layout({ ...frame, ...page, failure }, content), failure === undefined ? 200 : failed);
  }

  /** Asks for a confirmation. @param cancel address of the page that is shown without it */
  ask(c: Context, page: Page, content: Html, cancel: string): PageResponse {
    const link = markup`<p><a href="${cancel}">Cancel</a></p>`;
    return this.show(c, page, markup`<section class="card narrow">${content}${link}</section>`);
  }

  /** Redirects to a page with the result, so that a reload does not repeat the action. */
  redirect(c: Context, path: string, message: string): Response {
    return c.redirect(`${this.base}${path}${path.includes('?') ? '&' : '?'}done=${this.keep(message)}`, 303);
  }

  form(path: string, button: Html, fields: readonly Html[], attributes?: Html): Html {
    return markup`<form method="post" action="${this.base}${path}" ${attributes}>${fields}${button}</form>`;
  }
}

/** Without permission to read a history, an admin still sees the rest of its page. @throws other errors */
export function unreadHistory(error: unknown): string {
  const reason = awsReason(error);
  if (reason === undefined) throw error;
  return `The history cannot be read. ${reason}.`;
}

/** Sets an entry of a bounded map, which evicts its oldest one. */
function remember(map: Map<string, string>, key: string, value: string): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest);
}

class FormError extends AdminError {
  readonly fieldErrors: Sent['values'];

  constructor(fieldErrors: Sent['values']) {
    super('Nothing was changed. Correct the marked fields.');
    this.fieldErrors = fieldErrors;
  }
}

/** Name of the hidden field with the value that a field was shown with. */
export const shownAs = (name: string): string => `${name}-shown`;

/** Parses {@link fieldOf}'s fields, but none still as shown, which others may have changed. @throws FormError */
export function parseInputs(action: Pick<KeyAction, 'inputs' | 'allOptional'>, values: Sent['values']): Inputs {
  const fieldErrors: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const name of action.inputs) {
    const { parse } = inputs[name];
    const presence = action.allOptional ? 'optional' : inputs[name].presence;
    const text = (values[name] ?? '').trim();
    if (text === values[shownAs(name)]) continue;
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

/** @param more choices of fields of a key */
export function fieldOf(name: keyof Inputs, more: Partial<Record<string, Field['choices']>> = {}): Field {
  const { title, hint, presence, choices = more[name] } = inputs[name];
  const attributes = presence === 'agreed' ? numeric : undefined;
  // The labels of numbers and choices say all.
  return { name, label: title, hint: attributes || choices ? undefined : sentence(hint), choices, attributes };
}

/**
 * Runs the action of a form. If it fails, its page is shown with the submitted values. A reload leads to that page,
 * which is at the path, or above it.
 *
 * @param retryEffect of submitting it again; by default it completes the interrupted work
 */
export function onForm(
  app: Hono,
  path: string,
  work: (c: Context, values: Sent['values']) => PageResponse,
  showAgain: (c: Context, sent: Sent) => PageResponse,
  retryEffect?: string,
): void {
  app.get(path, (c) => c.redirect(dirname(c.req.path)));
  app.post(path, async (c) => {
    const body = Object.entries(await c.req.parseBody().catch(() => ({})));
    const values = Object.fromEntries(body.filter((field): field is [string, string] => typeof field[1] === 'string'));
    try {
      return await work(c, values);
    } catch (error) {
      const fieldErrors = error instanceof FormError ? error.fieldErrors : {};
      const formError = failureText(error, 'submit the form again', retryEffect);
      if (formError === undefined) throw error;
      return showAgain(c, { values, fieldErrors, formError });
    }
  });
}
