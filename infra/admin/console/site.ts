import type { Context } from 'hono';
import type { Target } from '../target.ts';
import type { Tickets } from './guard.ts';
import type { KeyList } from './key-list.ts';
import { type Html, layout, type Page } from './markup.ts';

/** What the pages of the console work with. */
export interface Site {
  readonly target: Target;
  readonly tickets: Tickets;
  readonly keys: KeyList;
  /** What was done, for the page that is shown next, by the id in its address. */
  readonly notes: Map<string, string>;
}

type Answer = Response | Promise<Response>;

/** A whole page; with what was done just now, once. Where something was refused, that is its status. */
export function show(c: Context, { target, notes }: Site, page: Page, content: Html, isRefused = false): Answer {
  const { done = '' } = c.req.query();
  const note = notes.get(done);
  notes.delete(done);
  return c.html(layout({ note, ...page, place: target.place }, content), isRefused ? 422 : 200);
}

/** A part of a page for its script, or a page of its own for a browser without one. */
export const showPart = (c: Context, site: Site, page: Page, content: Html): Answer =>
  c.req.header('Sec-Fetch-Dest') === 'document' ? show(c, site, page, content) : c.html(content);

/** To a page that says what was done; loaded again, it does nothing again. */
export function redirectTo(c: Context, { notes }: Site, path: string, note: string): Response {
  const id = String(Math.random()).slice(2);
  notes.set(id, note);
  return c.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${id}`, 303);
}
