/** What a sync did, in ids of keys. */
export interface SyncReport {
  readonly added: string[];
  readonly changed: string[];
  /** They are on no plan, or disabled in API Gateway; their counters are kept. */
  readonly disabled: string[];
  /** They are gone from API Gateway, and closed for good. */
  readonly removed: string[];
  /** Changed by somebody else meanwhile, and left to the next sync. */
  readonly conflicts: string[];
  readonly unchanged: string[];
  /** What an admin should put right, in words. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS has a limit to them. */
  readonly keysInAccount: number;
}

export function emptyReport(problems: readonly string[], keysInAccount: number): SyncReport {
  const lists = { added: [], changed: [], disabled: [], removed: [], conflicts: [], unchanged: [] };
  return { ...lists, problems: [...problems], keysInAccount };
}

/** What the line of a sync counts, each with the part of its report. Of those that are not 0, CloudWatch makes metrics. */
export const countedBySync = {
  KeysAdded: 'added',
  KeysChanged: 'changed',
  KeysDisabled: 'disabled',
  KeysRemoved: 'removed',
  SyncConflicts: 'conflicts',
  SyncProblems: 'problems',
} as const satisfies Record<string, keyof Omit<SyncReport, 'keysInAccount' | 'unchanged'>>;
