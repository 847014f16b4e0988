import type { Revised, StockUpdate } from './stock-store.ts';

/** What an update of a stock entry leaves in it, and may find there; see `StockStore.update`. */

/** Longer than an update is on its way, and than the clocks of two functions differ. */
const RECENT_MS = 60_000;

/** Repeated updates that an entry remembers: more than can be on their way for one pet at once. */
const MAX_REPEATED = 10;

/** A revision that was imported is its time in microseconds. */
const IMPORTED_PER_MS = 1_000;

export interface Condition {
  readonly expression: string;
  readonly values: Record<string, number | string>;
}

/** What an entry keeps of an update: its token, and the second in which it was sent. */
export const updateMark = (token: string, now: number): string => `${token}.${Math.floor(now / 1_000).toString(36)}`;

/** Whether a version was made by the update with this token. */
export const isBy = ({ updatedBy }: Revised, token: string): boolean => updatedBy?.startsWith(`${token}.`) ?? false;

/**
 * The condition under which an update is done: the entry has one of the revisions asked for, or is there at all;
 * undefined where none can hold. One that is sent again is for the version `base` alone.
 *
 * A first write that is for one revision cannot take effect any more once anything else has. One for several, or for
 * any, could: it may arrive after the update was sent again, and others have updated the entry too. So those that were
 * sent again are remembered in the entry ({@link withRepeated}), and the first write finds itself there. An import
 * replaces what is remembered too: a first write that is on its way until after that is the one case left.
 */
export function conditionOf({ revisions, token }: StockUpdate, base: Revised | undefined): Condition | undefined {
  if (base) return oneOf([base.revision]);
  if (revisions?.length === 0) return undefined;
  if (revisions?.length === 1) return oneOf(revisions);
  const { expression, values } = revisions ? oneOf(revisions) : { expression: 'attribute_exists(petId)', values: {} };
  return { expression: `${expression} AND NOT contains(repeated, :token)`, values: { ...values, ':token': token } };
}

function oneOf(revisions: readonly number[]): Condition {
  const values = Object.fromEntries(revisions.map((revision, index) => [`:revision${index}`, revision]));
  const isOneOf = `revision IN (${Object.keys(values).join(', ')})`;
  // An entry that was put in by other means has no revision, which counts as 0.
  const expression = revisions.includes(0)
    ? `attribute_exists(petId) AND (${isOneOf} OR attribute_not_exists(revision))`
    : isOneOf;
  return { expression, values };
}

/** What `repeated` of the entry becomes when an update is sent again; undefined where it need not be remembered. */
export function withRepeated(
  { revisions, token }: StockUpdate,
  base: Revised | undefined,
): readonly string[] | undefined {
  if (!base || revisions?.length === 1) return undefined;
  const others = (base.repeated ?? []).filter((other) => other !== token);
  return [...others.slice(1 - MAX_REPEATED), token];
}

/**
 * Whether an update whose answer was lost may have been done before the version that is `found`, which is not its own.
 *
 * @param base the version that it was sent again for; undefined where it was sent once
 * @param sentAt Unix milliseconds, when it was first sent
 */
export function mayBeOvertaken(
  { revisions }: StockUpdate,
  found: Revised,
  base: Revised | undefined,
  sentAt: number,
): boolean {
  if (base) return found.revision !== base.revision;
  if (revisions && !revisions.includes(found.revision)) return true;
  // It could replace one version alone, and this is the one.
  if (revisions?.length === 1) return false;
  // Whoever made this version long before has not replaced ours.
  return !(updatedAt(found) < sentAt - RECENT_MS);
}

/** Unix milliseconds at which a version was made; NaN where that cannot be told. */
function updatedAt({ updatedBy, revision }: Revised): number {
  if (updatedBy === undefined) return revision / IMPORTED_PER_MS;
  return Number.parseInt(updatedBy.split('.')[1] ?? '', 36) * 1_000;
}
