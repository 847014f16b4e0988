/** The region that all prices are for; others differ by up to some tens of percent. */
export const priceRegion = 'us-east-1';

/** The day the prices were written down (ISO date). Look at the pages again before a figure is relied on. */
export const pricesTakenOn = '2026-11-21';

/**
 * AWS's list prices in USD, on demand, without free tiers, savings plans or volume discounts. A name says the unit: per million of something, per GB
 * (10^9 bytes), per GB-second of memory, or per month (`monthly`). Above each service stands the page that has them.
 */
export const prices = {
  /** https://aws.amazon.com/api-gateway/pricing/ */
  apiGateway: {
    /** REST API, first 333 million a month. A streamed answer counts as one request for every 10 MB that it begins. */
    perMillionRequests: 3.5,
  },
  /** https://aws.amazon.com/lambda/pricing/ */
  lambda: {
    perMillionRequests: 0.2,
    /** arm64, first 7.5 billion GB-seconds a month; billed by the millisecond, the loading of a cold start included. */
    perGbSecondArm: 0.000_013_333_4,
  },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  dynamodb: { perMillionWriteUnits: 0.625, perMillionReadUnits: 0.125 },
  /** https://aws.amazon.com/cloudwatch/pricing/: standard class, custom logs and the first tier of Lambda's (10 TB a month) */
  logs: { perGbIngested: 0.5 },
  /** https://aws.amazon.com/cloudwatch/pricing/ */
  cloudWatch: {
    /** First 10,000 metrics; each combination of name and dimension values is one, billed by the hour in which it has values. */
    perMetricMonthly: 0.3,
    /** Standard resolution, per metric that the alarm looks at. */
    perAlarmMetricMonthly: 0.1,
    perDashboardMonthly: 3,
  },
  /** https://aws.amazon.com/xray/pricing/ */
  xray: { perMillionTracesRecorded: 5 },
  /** https://aws.amazon.com/sqs/pricing/: standard queues; the first million a month, which stays free, is not taken off */
  sqs: { perMillionRequests: 0.4 },
  /** https://aws.amazon.com/waf/pricing/: a managed rule group counts as one rule */
  waf: { perWebAclMonthly: 5, perRuleMonthly: 1, perMillionRequests: 0.6 },
  /** https://aws.amazon.com/kms/pricing/: a customer-managed key; keys that AWS owns or manages cost nothing to keep */
  kms: { perKeyMonthly: 1 },
  /** https://aws.amazon.com/ec2/pricing/on-demand/: to the internet, first 10 TB a month (after 100 GB free for the account) */
  dataTransfer: { perGbOut: 0.09 },
} as const;

/** Share of the requests that X-Ray records (see inventory-api.ts). */
export const TRACED_SHARE = 0.01;

/** Memory of every function: with less, a cold start takes longer, and a list waits for its processor. */
export const FUNCTION_MEMORY_MEGABYTES = 1_024;
