import * as v from 'valibot';
import type { PlanId } from '../keys/plans.ts';
import { UNCOUNTED } from './authorizer-context.ts';

/** A count as text. */
const count = v.fallback(v.pipe(v.string(), v.transform(Number), v.finite()), 0);
const text = v.fallback(v.optional(v.string()), undefined);

/** For some minutes of a release the authorizer is older or newer than the function: it may tell less, or otherwise. */
const sharedContextSchema = v.object({
  outcome: text,
  principalId: text,
  plan: text,
  coldStarts: count,
});

/** What the authorizer says of its part, in its context. */
export function shareContext(coldStarts: number, plan?: PlanId): Record<string, string> {
  return { ...(plan !== undefined && { plan }), coldStarts: String(coldStarts) };
}

/** Reads it in a function. Whatever is missing there, the request is logged. */
export function parseShare(context: unknown) {
  const { outcome, principalId, plan, coldStarts } = v.parse(sharedContextSchema, context ?? {});
  return { coldStarts, plan, outcome, keyId: principalId === UNCOUNTED ? undefined : principalId };
}
