import type { Limits } from '../../shared/keys/plans.ts';
import type { CostSettings } from './cost-model.ts';

/** What the costs in docs/operating/costs.md are computed with. X-Ray's default is one request in twenty, and the first of each second. */
export const costSettings: CostSettings = { memoryMegabytes: 1_024, tracedShare: 0.05, firewall: true };

/** The requests of a customer, by their shares. */
export const requestMix = { update: 0.5, pet: 0.3, page: 0.2 } as const;

/** What an Enterprise customer might have agreed: the most that a stage agrees to. */
export const agreedLimits: Limits = { perMinute: 60_000, perDay: 60_000 * 1_440 };

export const DAYS_A_MONTH = 30;
