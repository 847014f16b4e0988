import { badRequest } from './control-plane-error.ts';
import type { Query } from './query.ts';

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 500;

/** Query parameters of an operation that pages. */
export const pagingParameters = ['limit', 'position'] as const;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page starts; absent on the last. */
  readonly position?: string;
}

/**
 * The part of a list that a call asks for, in the order of the ids. A position is the id before it, so that a page is
 * right whatever was added or deleted since the page before.
 *
 * @throws ControlPlaneError on a limit or a position that is none
 */
export function pageOf<Item extends { readonly id: string }>(items: readonly Item[], query: Query): Page<Item> {
  const limit = limitOf(query);
  const after = positionOf(query);
  const rest = items.filter(({ id }) => after === undefined || id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return { items: page, ...(last && { position: Buffer.from(last.id).toString('base64url') }) };
}

function limitOf(query: Query): number {
  const text = query.text('limit');
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(limit >= 1 && limit <= MAX_LIMIT)) throw badRequest(`limit must be a number from 1 to ${MAX_LIMIT}`);
  return limit;
}

function positionOf(query: Query): string | undefined {
  const text = query.text('position');
  if (text === undefined) return undefined;
  const id = Buffer.from(text, 'base64url').toString();
  const isOurs = id !== '' && Buffer.from(id).toString('base64url') === text;
  if (!isOurs) throw badRequest(`Invalid position: ${text}`);
  return id;
}
