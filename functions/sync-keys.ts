import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { gatewayClient } from '../shared/key-registry/gateway-client.ts';
import { KeyTable } from '../shared/key-registry/key-table.ts';
import { syncKeys } from '../shared/key-registry/sync-keys.ts';
import { countedBySync, KEYS_IN_ACCOUNT, type SyncReport } from '../shared/key-registry/sync-report.ts';

const gateway = gatewayClient();
const table = new KeyTable(documentClient({ maxAttempts: 5, requestTimeout: 5_000 }), requiredEnv('KEYS_TABLE'));
const stage = { apiId: requiredEnv('API_ID'), stage: requiredEnv('API_STAGE') };
const metrics = new Metrics({
  namespace: requiredEnv('METRICS_NAMESPACE'),
  serviceName: 'sync-keys',
  defaultDimensions: { stack: requiredEnv('STACK_NAME') },
});

/** Ids and problems that one log line names; the metrics count them all. */
const MAX_LISTED = 100;

/**
 * Mirrors API Gateway's keys and usage plans into the keys table. Whatever the batch of events says, it looks at
 * everything: an event may be late, doubled or lost, and one look covers all of a batch.
 */
export const handler = async (): Promise<void> => {
  publish(await syncKeys(gateway, table, stage));
};

/** One line of the log, which CloudWatch takes the metrics from (Embedded Metric Format). */
function publish({ keysInAccount, ...report }: SyncReport): void {
  metrics.addMetric(KEYS_IN_ACCOUNT, MetricUnit.Count, keysInAccount);
  for (const [name, part] of Object.entries(countedBySync)) {
    metrics.addMetric(name, MetricUnit.Count, report[part].length);
  }
  const { added, changed, disabled, removed, conflicts, problems } = report;
  for (const [name, items] of Object.entries({ added, changed, disabled, removed, conflicts, problems })) {
    if (items.length > 0) metrics.addMetadata(name, JSON.stringify(items.slice(0, MAX_LISTED)));
  }
  metrics.publishStoredMetrics();
}
