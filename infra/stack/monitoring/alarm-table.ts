import { type MathExpression, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import { timedOperation } from '../operation-functions.ts';
import type { MonitoringMetrics } from './metrics.ts';

export interface AlarmDefinition {
  /** What is wrong, as the e-mail and the runbook say it. */
  readonly title: string;
  /** `page`: look now, whatever the hour; `ticket`: on the next working day. */
  readonly severity: 'page' | 'ticket';
  /** When it goes off, in words. */
  readonly when: string;
  /** Where to look first, in words. What is quoted is the name of a saved query or of a graph. */
  readonly firstStep: string;
  /** Minutes of one data point; 5 by default. The window slides: CloudWatch looks every minute. */
  readonly periodMinutes?: number;
  /** Data points in a row that it takes; 1 by default. */
  readonly periods?: number;
  /** What is monitored; undefined where the deployment does not have it. */
  readonly metric: (metrics: MonitoringMetrics) => Metric | MathExpression | undefined;
  readonly breaches: { readonly above: number } | { readonly atLeast: number };
  /** By default no data is good news: most metrics are there only when something happens, or there are requests. */
  readonly missingData?: TreatMissingData;
  /** Whether it stops a release that is under way, and takes it back. */
  readonly rollsBack?: true;
}

/**
 * A share counts from this many failures on, not from so many requests: one failure of three requests at night wakes
 * no admin, five of five do.
 */
const FAILED = { percent: 1, atLeast: 5 };

/** Long enough for a cold start of authorizer and function; enough requests for a p99 to be more than the slowest. */
const SLOW = { milliseconds: 3_000, requests: 100 };

/** The functions turn every fault into an answer: one that fails itself was killed, ran out of time or cannot start. */
const FAILED_FUNCTION = { atLeast: 3 };

const UNCOUNTED = { atLeast: 5 };
const THROTTLED = { atLeast: 5 };
const REFUSED_ADMITTED = { atLeast: 3 };
/** Of three. One alone may have come across an admin at work. */
const PROBLEMS = { syncs: 2 };
const REFUSED = { percent: 20, atLeast: 500 };
const BLOCKED = { atLeast: 1_000 };
const LATE = { minutes: 15 };

/** Why the authorizer refuses a request. */
export const refusalReasons = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'API_KEY_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
  'DAILY_QUOTA_EXCEEDED',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[];

/** A number as people read it: 10,000. */
const thousands = (value: number): string => value.toLocaleString('en');

/** The share in percent of the requests, or 0 below a count that is worth a look. */
export const share = (count: string, all: string, { atLeast }: { readonly atLeast: number }): string =>
  `IF(${count} >= ${atLeast}, 100 * ${count} / ${all}, 0)`;

/**
 * Every alarm of a deployment, by the name of its section in docs/runbooks.md. DynamoDB's own errors have none: what
 * the SDK's repeats do not cure is a request that failed or was not counted, and these have.
 */
export const alarmCatalog = {
  'api-errors': {
    title: 'Requests fail on our side',
    severity: 'page',
    when: `more than ${FAILED.percent} % of the requests, and at least ${FAILED.atLeast}, are answered with 5xx in 5 minutes`,
    firstStep: 'was there a release in the last half hour? Then the saved query "Failed requests by operation"',
    metric: (metrics) =>
      metrics.formula(share('failed', 'requests', FAILED), {
        failed: metrics.gateway('5XXError'),
        requests: metrics.gateway('Count'),
      }),
    breaches: { above: FAILED.percent },
    rollsBack: true,
  },
  'slow-answers': {
    title: 'Answers are slow',
    severity: 'page',
    when: `the slowest 1 % of the updates take longer than ${SLOW.milliseconds / 1_000} seconds in 5 minutes with at least ${SLOW.requests} of them`,
    firstStep: 'the graph "Time to answer": is p99 alone high, or p50 too?',
    metric: (metrics) =>
      metrics.formula(`IF(updates >= ${SLOW.requests}, p99, 0)`, {
        updates: metrics.gateway('Count', Stats.SUM, timedOperation),
        p99: metrics.gateway('Latency', Stats.percentile(99), timedOperation),
      }),
    breaches: { above: SLOW.milliseconds },
    rollsBack: true,
  },
  'authorizer-errors': {
    title: 'The authorizer fails',
    severity: 'page',
    when: `the authorizer breaks off or runs out of time at least ${FAILED_FUNCTION.atLeast} times in 5 minutes`,
    firstStep: 'the saved query "Errors and their causes", with @log of the authorizer',
    metric: (metrics) => metrics.function(metrics.monitored.functions.byName.authorizer, 'Errors'),
    breaches: { atLeast: FAILED_FUNCTION.atLeast },
    rollsBack: true,
  },
  'function-errors': {
    title: 'Lists break off',
    severity: 'page',
    when: `functions of lists break off or run out of time at least ${FAILED_FUNCTION.atLeast} times in 5 minutes`,
    firstStep: 'the graph "Functions that break off or are throttled": which function?',
    // Any other function that fails is a 5xx to the gateway; a list has begun with 200 by then.
    metric: (metrics) => metrics.fromLogs('BrokenLists'),
    breaches: { atLeast: FAILED_FUNCTION.atLeast },
    rollsBack: true,
  },
  'gateway-refusals': {
    title: 'The gateway refuses what the limiter admitted',
    severity: 'page',
    when: `at least ${REFUSED_ADMITTED.atLeast} admitted requests are refused by API Gateway itself in 5 minutes`,
    firstStep: 'the saved query "Errors of the gateway": which error, and whose keys?',
    metric: (metrics) => metrics.fromLogs('GatewayRefusals'),
    breaches: { atLeast: REFUSED_ADMITTED.atLeast },
  },
  'uncounted-requests': {
    title: 'Requests cannot be counted',
    severity: 'page',
    when: `at least ${UNCOUNTED.atLeast} requests are answered with 503 in 5 minutes because the keys table does not answer, or the record of a key cannot be read`,
    firstStep: 'the saved query "Errors and their causes" names the cause, and the key where it is one record',
    metric: (metrics) => metrics.requests('Refusals', { reason: 'SERVICE_UNAVAILABLE' }),
    breaches: { atLeast: UNCOUNTED.atLeast },
  },
  'throttled-functions': {
    title: 'Lambda throttles',
    severity: 'page',
    when: `at least ${THROTTLED.atLeast} calls of functions of the account are refused in 5 minutes, as too many run at once`,
    firstStep: 'aws lambda get-account-settings: how many functions may run at once?',
    // Without a name: of all functions in the account, which share one number.
    metric: (metrics) => metrics.accountFunctions('Throttles'),
    breaches: { atLeast: THROTTLED.atLeast },
  },
  'throttled-database': {
    title: 'DynamoDB throttles',
    severity: 'page',
    when: `at least ${THROTTLED.atLeast} writes of keys or stock are refused in 5 minutes`,
    firstStep: 'the graph "Tables that throttle": which table?',
    // The two tables that have items which many write at once. What else is throttled for long is a 503.
    metric: (metrics) =>
      metrics.sum(
        'throttles',
        (['keys', 'stock'] as const).map((name) => metrics.table(name, 'WriteThrottleEvents')),
      ),
    breaches: { atLeast: THROTTLED.atLeast },
  },
  'sync-missing': {
    title: 'The keys are not synced',
    severity: 'ticket',
    when: 'no sync of keys has come to its end for 15 minutes, three times its schedule',
    firstStep: 'the saved query "Why the sync failed"; if it finds nothing, the schedule is off',
    periodMinutes: 15,
    // Lambda counts 1 for a call that failed and 0 for one that did not.
    metric: (metrics) => metrics.function(metrics.monitored.keySync.sync, 'Errors', Stats.MINIMUM),
    breaches: { atLeast: 1 },
    // Nothing is just what this alarm is for.
    missingData: TreatMissingData.BREACHING,
  },
  'sync-problems': {
    title: 'A key or a usage plan is not in order',
    severity: 'ticket',
    when: `at least ${PROBLEMS.syncs} syncs of the last 15 minutes report a problem that an admin has to put right, or one opened a key that was blocked in API Gateway`,
    firstStep:
      'npm run admin -- keys sync names each problem; the saved query "Why the sync failed" what earlier syncs reported',
    periodMinutes: 15,
    // A sync that opens a key counts twice, as no later one reports that again.
    metric: (metrics) =>
      metrics.sum(
        'syncs',
        ['SyncProblems', 'KeysOpened'].map((name) => metrics.sync(name, Stats.SAMPLE_COUNT)),
      ),
    breaches: { atLeast: PROBLEMS.syncs },
  },
  'late-events': {
    title: 'Changes of stock are published late',
    severity: 'page',
    when: `a change of stock waits for more than ${LATE.minutes} minutes to be published; after 24 hours it is lost`,
    firstStep: 'the saved query "Errors and their causes", with @log of the publisher',
    metric: (metrics) => {
      const { stockEvents } = metrics.monitored;
      return stockEvents && metrics.function(stockEvents.publisher, 'IteratorAge', Stats.MAXIMUM);
    },
    breaches: { above: LATE.minutes * 60_000 },
  },
  'unpublished-events': {
    title: 'Changes of stock were not published',
    severity: 'ticket',
    when: 'at least one change of stock is on the queue of those that cannot be read, or that EventBridge refuses',
    firstStep: 'the saved query "Errors and their causes", with @log of the publisher, names the reason of each',
    metric: ({ monitored }) => monitored.stockEvents?.queue.metricApproximateNumberOfMessagesVisible(),
    breaches: { atLeast: 1 },
  },
  'many-refusals': {
    title: 'Many requests are refused',
    severity: 'ticket',
    when: `more than ${REFUSED.percent} % of the requests, and at least ${REFUSED.atLeast} in 5 minutes, are refused by the limiter for 15 minutes`,
    firstStep: 'the graph "Refusals by reason", or the saved query "Who is refused most, and why"',
    periods: 3,
    metric: (metrics) =>
      metrics.formula(share('refused', 'requests', REFUSED), {
        refused: metrics.requests('Refusals'),
        requests: metrics.requests('Requests'),
      }),
    breaches: { above: REFUSED.percent },
  },
  'firewall-blocks': {
    title: 'The firewall blocks many requests',
    severity: 'ticket',
    when: `at least ${thousands(BLOCKED.atLeast)} requests are blocked in each 5 minutes, for 15 minutes`,
    firstStep: 'which rule blocks? Logs Insights, the log group of the firewall',
    periods: 3,
    metric: (metrics) => metrics.blocked(),
    breaches: { atLeast: BLOCKED.atLeast },
  },
} as const satisfies Record<string, AlarmDefinition>;

export type AlarmId = keyof typeof alarmCatalog;

/** The catalogue, one after the other. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are all there are
export const alarmDefinitions = Object.entries(alarmCatalog) as [AlarmId, AlarmDefinition][];
