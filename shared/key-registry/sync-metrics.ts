import type { SyncReport } from './sync-report.ts';

/** What the line of a sync counts, each with the part of its report. Of those that are not 0, CloudWatch makes metrics. */
export const countedBySync = {
  KeysAdded: 'added',
  KeysChanged: 'changed',
  KeysDisabled: 'disabled',
  KeysRemoved: 'removed',
  SyncConflicts: 'conflicts',
  SyncProblems: 'problems',
} as const satisfies Record<string, keyof Omit<SyncReport, 'keysInAccount' | 'unchanged'>>;
