import { DailyUsage } from './daily-usage.ts';
import type { Day } from './quota-period.ts';

/** The requests counted on one day. */
export interface CountedDay {
  readonly planId: string;
  readonly keyId: string;
  readonly day: Day;
}

/** What each key has used on each usage plan. */
export class UsageLedger {
  /** By the plan, then by the key. */
  readonly #usage = new Map<string, Map<string, DailyUsage>>();

  of(planId: string, keyId: string): DailyUsage {
    const ofPlan = this.#usage.get(planId) ?? new Map<string, DailyUsage>();
    const usage = ofPlan.get(keyId) ?? new DailyUsage();
    this.#usage.set(planId, ofPlan.set(keyId, usage));
    return usage;
  }

  /** Forgets what was used on a plan, or by a key. @returns the days that had counts */
  drop(whose: { readonly planId: string } | { readonly keyId: string }): CountedDay[] {
    const dropped: CountedDay[] = [];
    for (const [planId, ofPlan] of this.#usage) {
      for (const [keyId, usage] of ofPlan) {
        if ('planId' in whose ? whose.planId !== planId : whose.keyId !== keyId) continue;
        dropped.push(...[...usage.days].map((day) => ({ planId, keyId, day })));
        ofPlan.delete(keyId);
      }
    }
    return dropped;
  }
}
