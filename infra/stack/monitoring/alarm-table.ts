import { type MathExpression, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import { UNRECORDED } from '../../../shared/log.ts';
import { timedOperation } from '../operation-functions.ts';
import type { MonitoringMetrics } from './metrics.ts';

export interface AlarmDefinition {
  /** The problem, for the e-mail and the runbook. */
  readonly title: string;
  /** `page`: act now, at any hour; `ticket`: on the next working day. */
  readonly severity: 'page' | 'ticket';
  /** The condition, as text with `{}` for the threshold. */
  readonly when: string;
  /** The first step, as text. Quoted names are saved queries or graphs. */
  readonly firstStep: string;
  /** Minutes of one data point; 5 by default. The window slides: CloudWatch evaluates it every minute. */
  readonly periodMinutes?: number;
  /** Consecutive data points required; 1 by default. */
  readonly periods?: number;
  /** The metric; undefined if the deployment does not have it. */
  readonly metric: (metrics: MonitoringMetrics) => Metric | MathExpression | undefined;
  readonly breaches: { readonly above: number } | { readonly atLeast: number };
  /** By default missing data is not a problem: most metrics exist only during errors or traffic. */
  readonly missingData?: TreatMissingData;
  /** Whether it stops a release in progress, and rolls it back. */
  readonly rollsBack?: true;
}

/** The percentage requires a minimum of failures, not of requests: one failure of three requests pages no admin. */
const MIN_FAILED = 5;
/** For the hours with few requests. */
const MIN_ALL_FAILED = 3;

const MIN_REFUSED = 500;

/** Exceeds a cold start of authorizer and function; with enough requests for a meaningful p99. */
const SLOW = { milliseconds: 3_000, requests: 100 };

/** Why the authorizer refuses a request. */
export const refusalReasons = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'API_KEY_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
  'DAILY_QUOTA_EXCEEDED',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[];

/** The percentage of the requests, or 0 below a minimum count. */
export const share = (count: string, all: string, atLeast: number): string =>
  `IF(${count} >= ${atLeast}, 100 * ${count} / ${all}, 0)`;

export const thresholdOf = ({ breaches }: AlarmDefinition): number =>
  'above' in breaches ? breaches.above : breaches.atLeast;

/** The condition of an alarm, as text. */
export const conditionOf = (definition: AlarmDefinition): string =>
  definition.when.replace('{}', thresholdOf(definition).toLocaleString('en'));

/**
 * Every alarm of a deployment, by the name of its section in docs/runbooks.md. DynamoDB errors have none: those that
 * the SDK's retries do not resolve become failed or uncounted requests, which have alarms.
 */
export const alarmCatalog = {
  'api-errors': {
    title: 'Requests fail on our side',
    severity: 'page',
    when: `more than {} % of the requests, and at least ${MIN_FAILED}, return 5xx in 5 minutes`,
    firstStep: 'check for a release in the last half hour, then the saved query "Failed requests by operation"',
    metric: (metrics) =>
      metrics.formula(share('failed', 'requests', MIN_FAILED), {
        failed: metrics.gateway('5XXError'),
        requests: metrics.gateway('Count'),
      }),
    breaches: { above: 1 },
  },
  outage: {
    title: 'All requests fail',
    severity: 'page',
    when: `at least ${MIN_ALL_FAILED} requests return 5xx in 30 minutes, and none succeeds`,
    firstStep: 'the saved query "Failed requests by operation"',
    periodMinutes: 30,
    metric: (metrics) =>
      metrics.formula(share('failed', '(requests - refused)', MIN_ALL_FAILED), {
        failed: metrics.gateway('5XXError'),
        requests: metrics.gateway('Count'),
        refused: metrics.gateway('4XXError'),
      }),
    breaches: { atLeast: 100 },
  },
  'slow-answers': {
    title: 'Responses are slow',
    severity: 'page',
    when: `the p99 latency of updates exceeds ${SLOW.milliseconds / 1_000} seconds in 5 minutes with at least ${SLOW.requests} updates`,
    firstStep: 'the graph "Latency": is only p99 high, or p50 too?',
    metric: (metrics) =>
      metrics.formula(`IF(updates >= ${SLOW.requests}, p99, 0)`, {
        updates: metrics.gateway('Count', Stats.SUM, timedOperation),
        p99: metrics.gateway('Latency', Stats.percentile(99), timedOperation),
      }),
    breaches: { above: SLOW.milliseconds },
    rollsBack: true,
  },
  'function-errors': {
    title: 'Lists are truncated',
    severity: 'page',
    when: 'at least {} list invocations crash or time out in 5 minutes, excluding throttled reads and slow clients',
    firstStep: 'the graph "Function errors and throttles": which function?',
    // Other failing functions cause a 5xx; a list has already returned 200.
    metric: (metrics) => metrics.difference(metrics.fromLogs('BrokenLists'), metrics.requests('ExcusedLists')),
    breaches: { atLeast: 3 },
    rollsBack: true,
  },
  'gateway-refusals': {
    title: 'API Gateway refuses admitted requests',
    severity: 'page',
    when: 'at least {} admitted requests are refused by API Gateway in 5 minutes',
    firstStep: 'the saved query "Errors of the gateway": which error, and whose keys?',
    metric: (metrics) => metrics.fromLogs('GatewayRefusals'),
    breaches: { atLeast: 3 },
  },
  'uncounted-requests': {
    title: 'Requests cannot be counted',
    severity: 'page',
    when: `at least {} requests return 503 in 5 minutes because the keys table is unavailable, or a key's record cannot be read`,
    firstStep: 'the saved query "Errors and their causes" names the cause, and the key where it is one record',
    metric: (metrics) => metrics.requests('Refusals', { reason: 'SERVICE_UNAVAILABLE' }),
    breaches: { atLeast: 5 },
  },
  'throttled-functions': {
    title: 'Lambda throttles',
    severity: 'page',
    when: 'at least {} function invocations in the account are throttled in 5 minutes',
    firstStep: 'aws lambda get-account-settings: is the limit of concurrent executions reached?',
    // Without a function name: all functions in the account share one limit. API Gateway's throttles keep batch updates
    // within their reservation, so every throttle refuses a customer within the limits.
    metric: (metrics) => metrics.accountFunctions('Throttles'),
    breaches: { atLeast: 5 },
  },
  'throttled-database': {
    title: 'DynamoDB throttles',
    severity: 'page',
    when: 'at least {} writes to keys or stock are throttled in 5 minutes',
    firstStep: 'the graph "Table throttles": which table?',
    // Only these tables have items with many concurrent writes. Other persistent throttling causes a 503.
    metric: (metrics) =>
      metrics.sum('throttles', [
        metrics.table('keys', 'WriteThrottleEvents'),
        metrics.table('stock', 'WriteThrottleEvents'),
      ]),
    breaches: { atLeast: 5 },
  },
  'sync-missing': {
    title: 'The keys are not synced',
    severity: 'ticket',
    when: 'no key sync has completed for 15 minutes; it runs every 5 minutes',
    firstStep: 'the saved query "Why the sync failed"; without results, the schedule is disabled',
    periodMinutes: 15,
    // Lambda records 1 for a failed invocation and 0 for a successful one.
    metric: (metrics) => metrics.function(metrics.monitored.keySync.sync, 'Errors', Stats.MINIMUM),
    breaches: { atLeast: 1 },
    // Missing data is what this alarm detects.
    missingData: TreatMissingData.BREACHING,
  },
  'sync-problems': {
    title: 'A key or a usage plan is inconsistent',
    severity: 'ticket',
    when: 'at least {} syncs of the last 15 minutes report a problem that an admin must fix, or a sync unblocked a key that was blocked in API Gateway',
    firstStep:
      'npm run admin -- keys sync lists each problem; the saved query "Why the sync failed" lists those of earlier syncs',
    periodMinutes: 15,
    // A sync that unblocks a key counts twice, as later ones do not report it again.
    metric: (metrics) =>
      metrics.sum(
        'syncs',
        ['SyncProblems', 'KeysOpened'].map((name) => metrics.sync(name, Stats.SAMPLE_COUNT)),
      ),
    // Of three syncs. A single one may have coincided with an admin's command.
    breaches: { atLeast: 2 },
  },
  'late-events': {
    title: 'Stock changes are published late',
    severity: 'page',
    when: 'a stock change is unpublished for more than 15 minutes; after 24 hours, it is lost',
    firstStep: 'the saved query "Errors and their causes", with @log of the publisher',
    metric: (metrics) => {
      const { stockEvents } = metrics.monitored;
      return stockEvents && metrics.function(stockEvents.publisher, 'IteratorAge', Stats.MAXIMUM);
    },
    breaches: { above: 15 * 60_000 },
  },
  'stopped-events': {
    title: 'Stock changes are not read',
    severity: 'page',
    when: 'at least {} stock writes in 30 minutes, but the publisher was not invoked; the changes are lost after 24 hours',
    firstStep: 'aws lambda list-event-source-mappings: the state of the mapping',
    periodMinutes: 30,
    // Without invocations there is no IteratorAge.
    metric: (metrics) => {
      const { stockEvents } = metrics.monitored;
      if (!stockEvents) return undefined;
      const invoked = metrics.formula('1000000 * calls', {
        calls: metrics.function(stockEvents.publisher, 'Invocations'),
      });
      return metrics.difference(metrics.table('stock', 'ConsumedWriteCapacityUnits'), invoked);
    },
    // More than the writes that a failed precondition leaves without a change.
    breaches: { atLeast: 10 },
  },
  'unpublished-events': {
    title: 'Stock changes were not published',
    severity: 'ticket',
    when: 'the queue has at least one stock change that cannot be read, or that EventBridge refuses',
    firstStep: 'the saved query "Errors and their causes", with @log of the publisher, shows the reason of each',
    metric: ({ monitored }) => monitored.stockEvents?.queue.metricApproximateNumberOfMessagesVisible(),
    breaches: { atLeast: 1 },
  },
  'unrecorded-changes': {
    title: 'Changes of stock are not recorded',
    severity: 'ticket',
    when: 'at least {} changes of stock in an hour are in effect, but perhaps not in the history of their pet',
    firstStep: 'the saved query "Errors and their causes" names the cause',
    periodMinutes: 60,
    metric: (metrics) => metrics.requests(UNRECORDED),
    breaches: { atLeast: 10 },
  },
  'many-refusals': {
    title: 'Many requests are refused',
    severity: 'ticket',
    when: `for 15 minutes, the limiter refuses more than {} % of requests, and at least ${MIN_REFUSED} per 5 minutes`,
    firstStep: 'the graph "Refusals by reason", or the saved query "Who is refused most, and why"',
    periods: 3,
    metric: (metrics) =>
      metrics.formula(share('refused', 'requests', MIN_REFUSED), {
        refused: metrics.requests('Refusals'),
        requests: metrics.requests('Requests'),
      }),
    breaches: { above: 20 },
  },
  'many-requests': {
    title: 'High request costs',
    severity: 'page',
    when: 'at least {} requests per 5 minutes, for 15 minutes',
    firstStep: 'the saved query "Addresses with most requests"',
    periods: 3,
    metric: (metrics) => metrics.gateway('Count'),
    // 1,000 per second (docs/operating/security.md has the costs of an attack).
    breaches: { atLeast: 300_000 },
  },
  'firewall-blocks': {
    title: 'The firewall blocks many requests',
    severity: 'ticket',
    when: 'at least {} requests are blocked per 5 minutes, for 15 minutes',
    firstStep: 'which rule blocks? See the log group of the firewall in Logs Insights',
    periods: 3,
    metric: (metrics) => metrics.blocked(),
    breaches: { atLeast: 1_000 },
  },
  'failed-backups': {
    title: 'A backup failed',
    severity: 'ticket',
    when: 'at least one nightly backup of a table, or its copy, fails in 24 hours',
    firstStep: 'AWS Backup, Jobs: the message of the failed job',
    periodMinutes: 24 * 60,
    metric: (metrics) => metrics.failedBackups(),
    breaches: { atLeast: 1 },
  },
} as const satisfies Record<string, AlarmDefinition>;

/** The catalog as a list. */
export const alarmDefinitions = Object.entries<AlarmDefinition>(alarmCatalog);
