import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { parseReportLine } from './parsed-report-line.ts';
import type { LocalHost } from './local-host.ts';

const ids = v.pipe(
  v.optional(v.string(), '[]'),
  v.transform((text): unknown => JSON.parse(text)),
  v.array(v.string()),
);

/** The line that each run of the sync function logs. */
const runSchema = v.strictObject({
  _aws: v.strictObject({ Timestamp: v.number(), CloudWatchMetrics: v.array(v.unknown()) }),
  service: v.string(),
  stack: v.string(),
  KeysInAccount: v.number(),
  KeysAdded: v.number(),
  KeysChanged: v.number(),
  KeysDisabled: v.number(),
  KeysRemoved: v.number(),
  KeysUnchanged: v.number(),
  SyncConflicts: v.number(),
  SyncProblems: v.number(),
  added: ids,
  changed: ids,
  disabled: ids,
  removed: ids,
  conflicts: ids,
  problems: ids,
});

export type SyncRun = v.InferOutput<typeof runSchema>;

/** What the sync function of a host has logged so far. */
export function syncLogOf({ host }: LocalHost): string {
  const file = readdirSync(host.logFolder).find((name) => name.includes('KeySyncFunction'));
  if (file === undefined) throw new Error('The sync function has no log');
  return readFileSync(path.join(host.logFolder, file), 'utf8');
}

/** The runs of the sync function so far, without Lambda's own lines. Throws where it has logged anything else. */
export function syncRunsOf(host: LocalHost): SyncRun[] {
  const lines = syncLogOf(host).split('\n').slice(0, -1);
  const written = lines.filter((line) => !parseReportLine(line));
  return written.map((line) => v.parse(runSchema, JSON.parse(line)));
}

/** The runs, once there are so many; those that there are after ten seconds otherwise. */
export async function syncRuns(host: LocalHost, count: number): Promise<SyncRun[]> {
  const deadline = performance.now() + 10_000;
  while (syncRunsOf(host).length < count && performance.now() < deadline) await sleep(20);
  return syncRunsOf(host);
}
