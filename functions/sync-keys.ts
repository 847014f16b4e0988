import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { gatewayClients } from '../shared/key-registry/gateway.ts';
import { KeyHistory } from '../shared/key-registry/key-history.ts';
import { KeyUsage } from '../shared/key-registry/key-usage.ts';
import { KeyTable } from '../shared/key-registry/key-table.ts';
import { syncKeys, type SyncReport } from '../shared/key-registry/key-sync.ts';
import { logOrigin, metricLine } from '../shared/log.ts';

const origin = logOrigin();

const documents = documentClient({ maxAttempts: 5, requestTimeout: 5_000 });
const history = new KeyHistory({
  client: documents,
  tableName: requiredEnv('HISTORY_TABLE'),
  who: () => Promise.resolve('sync'),
  onLost: (error) => print({ service: 'sync-keys', stack: origin.stack, notRecorded: String(error) }),
});
const usage = new KeyUsage(documents, requiredEnv('USAGE_TABLE'));
const registry = {
  ...gatewayClients(),
  keyTable: new KeyTable(documents, requiredEnv('KEYS_TABLE'), history),
  apiStage: { apiId: requiredEnv('API_ID'), stage: requiredEnv('API_STAGE') },
};

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Max ids and problems in one log line; its counts include all. */
const MAX_LISTED = 100;

/**
 * Syncs API Gateway's keys and the keys table. It ignores the content of the events and checks
 * all keys: an event may be late, duplicate or lost, and one run covers a whole batch.
 */
export const handler = async (): Promise<void> => {
  publish(await syncKeys(registry, usage));
};

/** Logs one line, whose metrics an alarm monitors. */
function publish({ keysInAccount, unchanged, ...report }: SyncReport): void {
  const counts = {
    KeysAdded: report.added.length,
    KeysChanged: report.changed.length,
    KeysClosed: report.closed.length,
    KeysApplied: report.applied.length,
    KeysOpened: report.opened.length,
    KeysLeft: report.left.length,
    SyncProblems: report.problems.length,
  };
  const metrics = (['SyncProblems', 'KeysOpened'] as const).filter((name) => counts[name] > 0);
  const lists = Object.entries(report).filter(([, items]) => items.length > 0);
  const fields = {
    service: 'sync-keys',
    KeysInAccount: keysInAccount,
    KeysUnchanged: unchanged.length,
    ...counts,
    ...Object.fromEntries(lists.map(([name, items]) => [name, JSON.stringify(items.slice(0, MAX_LISTED))])),
  };
  const dimensions = Object.fromEntries(metrics.map((name) => [name, [['service', 'stack']]]));
  print(metricLine(fields, dimensions, origin, Date.now()));
}
