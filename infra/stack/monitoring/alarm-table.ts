import { type MathExpression, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import { tableNames } from '../../stages.ts';
import type { MonitoringMetrics } from './metrics.ts';

/** How soon somebody is to look: `page` now, whatever the hour; `ticket` on the next working day. */
export type Severity = 'page' | 'ticket';

export interface AlarmDefinition {
  /** What is wrong, as the e-mail and the runbook say it. */
  readonly title: string;
  readonly severity: Severity;
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
  readonly breaches: { readonly above: number } | { readonly atLeast: number } | { readonly below: number };
  /** By default nothing is good news: most metrics are there only when something happens, or when there are requests. */
  readonly missingData?: TreatMissingData;
  /** Whether it stops a release that is under way, and takes it back. */
  readonly rollsBack?: true;
}

/**
 * A share counts from this many failures on, not from so many requests: one failure of three requests at night wakes
 * nobody, and five of five do.
 */
const FAILED = { percent: 1, atLeast: 5 };

/** Long enough for a cold start of authorizer and function; many enough requests for a p99 to be more than the slowest. */
const SLOW = { milliseconds: 3_000, requests: 100 };

/** The functions turn every fault into an answer: one that fails itself was killed, ran out of time or cannot start. */
const FAILED_FUNCTION = { atLeast: 3 };

const UNCOUNTED = { atLeast: 5 };
const THROTTLED = { atLeast: 5 };

/** API keys that an account may have in a region: fixed by AWS. */
const MAX_API_KEYS = 10_000;
const KEYS = { atLeast: 9_000 };
const REFUSED = { percent: 20, atLeast: 500 };
const BLOCKED = { percent: 10, atLeast: 200 };

/** Refusals that the caller has caused. */
const callersRefusals = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'API_KEY_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
  'DAILY_QUOTA_EXCEEDED',
] as const satisfies readonly ErrorCode[];

/** Why the authorizer refuses a request. */
export const refusalReasons = [...callersRefusals, 'SERVICE_UNAVAILABLE'] as const satisfies readonly ErrorCode[];

/** A number as people read it: 10,000. */
const thousands = (value: number): string => value.toLocaleString('en');

/** The share in percent of the requests, or 0 below a count that is worth a look. */
const share = (count: string, all: string, { atLeast }: { readonly atLeast: number }): string =>
  `IF(${count} >= ${atLeast}, 100 * ${count} / ${all}, 0)`;

/**
 * Every alarm of a deployment, by the name of its section in docs/runbooks.md. DynamoDB's own errors have none: what the
 * SDK's repeats do not cure is a request that failed or was not counted, and these have.
 */
export const alarmCatalogue = {
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
    when: `the slowest 1 % of the updates, or of the requests for a pet, take longer than ${SLOW.milliseconds / 1_000} seconds in 5 minutes with at least ${SLOW.requests} of them`,
    firstStep: 'the graph "Time to answer": is p99 alone high, or p50 too?',
    // A list takes as long as its reader does, so the lists are left out.
    metric: (metrics) => {
      const p99 = Stats.percentile(99);
      const slow = (id: string, operation: 'updateInventory' | 'getPet') =>
        metrics.formula(`IF(${id}Count >= ${SLOW.requests}, ${id}P99, 0)`, {
          [`${id}Count`]: metrics.gateway('Count', Stats.SUM, operation),
          [`${id}P99`]: metrics.gateway('Latency', p99, operation),
        });
      return metrics.formula('MAX([updates, pets])', {
        updates: slow('update', 'updateInventory'),
        pets: slow('pet', 'getPet'),
      });
    },
    breaches: { above: SLOW.milliseconds },
    rollsBack: true,
  },
  'authorizer-errors': {
    title: 'The authorizer fails',
    severity: 'page',
    when: `the authorizer breaks off or runs out of time at least ${FAILED_FUNCTION.atLeast} times in 5 minutes`,
    firstStep: 'the saved query "Errors and their causes", with @log of the authorizer',
    metric: (metrics) => metrics.function(metrics.monitored.functions.authorizer, 'Errors'),
    breaches: { atLeast: FAILED_FUNCTION.atLeast },
    rollsBack: true,
  },
  'function-errors': {
    title: 'A function fails',
    severity: 'page',
    when: `functions of operations break off or run out of time at least ${FAILED_FUNCTION.atLeast} times in 5 minutes`,
    firstStep: 'the graph "Functions that break off or are throttled": which function?',
    metric: (metrics) => {
      const { operations, fallback } = metrics.monitored.functions;
      const functions = [...Object.values(operations), fallback];
      return metrics.sum(
        'errors',
        functions.map((target) => metrics.function(target, 'Errors')),
      );
    },
    breaches: { atLeast: FAILED_FUNCTION.atLeast },
    rollsBack: true,
  },
  'uncounted-requests': {
    title: 'Requests cannot be counted',
    severity: 'page',
    when: `at least ${UNCOUNTED.atLeast} requests are answered with 503 in 5 minutes because the keys table does not answer`,
    firstStep: 'the saved query "Errors and their causes" names the cause',
    metric: (metrics) => metrics.requests('Refusals', { reason: 'SERVICE_UNAVAILABLE' }),
    breaches: { atLeast: UNCOUNTED.atLeast },
  },
  'throttled-functions': {
    title: 'Lambda throttles',
    severity: 'page',
    when: `at least ${THROTTLED.atLeast} calls of functions are refused in 5 minutes, as too many run at once`,
    firstStep: 'aws lambda get-account-settings: how many functions may run at once?',
    metric: (metrics) =>
      metrics.sum(
        'throttles',
        [...metrics.requestFunctions.map(([, target]) => target), metrics.monitored.sync].map((target) =>
          metrics.function(target, 'Throttles'),
        ),
      ),
    breaches: { atLeast: THROTTLED.atLeast },
  },
  'throttled-database': {
    title: 'DynamoDB throttles',
    severity: 'page',
    when: `at least ${THROTTLED.atLeast} reads or writes of tables are refused in 5 minutes`,
    firstStep: 'the graph "Tables that throttle": which table?',
    metric: (metrics) =>
      metrics.sum(
        'throttles',
        tableNames.flatMap((name) => [
          metrics.table(name, 'ReadThrottleEvents'),
          metrics.table(name, 'WriteThrottleEvents'),
        ]),
      ),
    breaches: { atLeast: THROTTLED.atLeast },
  },
  'sync-failed': {
    title: 'The sync of keys fails',
    severity: 'ticket',
    when: 'a call of sync-keys has failed three times and lies in the queue of failed ones',
    firstStep: 'the saved query "Why the sync failed"',
    metric: (metrics) => metrics.failedSyncs(),
    breaches: { atLeast: 1 },
  },
  'sync-missing': {
    title: 'The keys are not synced',
    severity: 'ticket',
    when: 'no sync of keys has come to its end for 15 minutes, three times its schedule',
    firstStep: 'the saved query "Why the sync failed"; if it finds nothing, the schedule is off',
    periodMinutes: 15,
    metric: (metrics) => metrics.sync('SyncProblems', Stats.SAMPLE_COUNT),
    breaches: { below: 1 },
    // Nothing is just what this alarm is for.
    missingData: TreatMissingData.BREACHING,
  },
  'sync-problems': {
    title: 'A key or a usage plan is not in order',
    severity: 'ticket',
    when: 'each sync of the last 15 minutes reports a problem that an admin has to put right',
    firstStep: 'npm run admin -- keys sync names each problem',
    periods: 3,
    metric: (metrics) => metrics.sync('SyncProblems', Stats.MAXIMUM),
    breaches: { atLeast: 1 },
    // A sync that did not run has put nothing right.
    missingData: TreatMissingData.IGNORE,
  },
  'many-keys': {
    title: 'The account is running out of API keys',
    severity: 'ticket',
    when: `the account has at least ${thousands(KEYS.atLeast)} of the ${thousands(MAX_API_KEYS)} API keys that it may have in the region`,
    firstStep: 'npm run admin -- keys list: how many of the keys are ours?',
    periodMinutes: 60,
    metric: (metrics) => metrics.sync('KeysInAccount', Stats.MAXIMUM),
    breaches: { atLeast: KEYS.atLeast },
    // An hour without a sync has removed no key.
    missingData: TreatMissingData.IGNORE,
  },
  'many-refusals': {
    title: 'Many requests are refused',
    severity: 'ticket',
    when: `more than ${REFUSED.percent} % of the requests, and at least ${REFUSED.atLeast} in 5 minutes, are refused with 401 or 429 for 15 minutes`,
    firstStep: 'the graph "Refusals by reason", or the saved query "Who is refused most, and why"',
    periods: 3,
    metric: (metrics) =>
      metrics.formula(share('refused', 'requests', REFUSED), {
        refused: metrics.sum(
          'refusals',
          callersRefusals.map((reason) => metrics.requests('Refusals', { reason })),
        ),
        requests: metrics.requests('Requests'),
      }),
    breaches: { above: REFUSED.percent },
  },
  'firewall-blocks': {
    title: 'The firewall blocks many requests',
    severity: 'ticket',
    when: `more than ${BLOCKED.percent} % of the requests, and at least ${BLOCKED.atLeast} in 5 minutes, are blocked for 15 minutes`,
    firstStep: 'which rule blocks? Logs Insights, the log group of the firewall',
    periods: 3,
    metric: (metrics) => {
      const blocked = metrics.firewall('BlockedRequests');
      const allowed = metrics.firewall('AllowedRequests');
      if (!blocked || !allowed) return undefined;
      const all = metrics.sum('part', [blocked, allowed]);
      return metrics.formula(share('blocked', 'all', BLOCKED), { blocked, all });
    },
    breaches: { above: BLOCKED.percent },
  },
} as const satisfies Record<string, AlarmDefinition>;

export type AlarmId = keyof typeof alarmCatalogue;

/** The catalogue, one after the other. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are all there are
export const alarmDefinitions = Object.entries(alarmCatalogue) as [AlarmId, AlarmDefinition][];
