import type { SyncReport } from './sync-report.ts';

/** The metrics of a sync, each with the part of its report that it counts. */
export const countedBySync = {
  KeysAdded: 'added',
  KeysChanged: 'changed',
  KeysDisabled: 'disabled',
  KeysRemoved: 'removed',
  KeysUnchanged: 'unchanged',
  SyncConflicts: 'conflicts',
  SyncProblems: 'problems',
} as const satisfies Record<string, keyof Omit<SyncReport, 'keysInAccount'>>;

/** The metric of what is no part of the report: how many keys the account has. */
export const KEYS_IN_ACCOUNT = 'KeysInAccount';

export const syncMetricNames: readonly string[] = [...Object.keys(countedBySync), KEYS_IN_ACCOUNT];
