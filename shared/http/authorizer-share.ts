import * as v from 'valibot';
import type { PlanId } from '../keys/plans.ts';
import type { Usage } from '../request-log/usage.ts';
import { UNCOUNTED } from './authorizer-context.ts';

/** A count as text. */
const count = v.fallback(v.pipe(v.string(), v.transform(Number), v.finite()), 0);
const text = v.fallback(v.optional(v.string()), undefined);

/** For some minutes of a release the authorizer is older or newer than the function: it may tell less, or otherwise. */
const sharedContextSchema = v.object({
  outcome: text,
  principalId: text,
  plan: text,
  readUnits: count,
  writeUnits: count,
  conflicts: count,
  coldStarts: count,
});

/** What the authorizer says of its part, in its context. */
export function shareContext({ readUnits, writeUnits, coldStarts }: Usage, plan?: PlanId): Record<string, string> {
  return {
    ...(plan !== undefined && { plan }),
    readUnits: String(readUnits),
    writeUnits: String(writeUnits),
    coldStarts: String(coldStarts),
  };
}

/** Reads it in a function. Whatever is missing there, the request is logged. */
export function parseShare(context: unknown) {
  const { outcome, principalId, plan, ...share } = v.parse(sharedContextSchema, context ?? {});
  return { share, plan, outcome, keyId: principalId === UNCOUNTED ? undefined : principalId };
}
