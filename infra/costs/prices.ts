/** The region that all prices are for; others differ by up to some tens of percent. */
export const priceRegion = 'us-east-1';

/** The day the prices were written down (ISO date). Look at the pages again before a figure is relied on. */
export const pricesTakenOn = '2026-11-21';

/**
 * AWS's list prices in USD, on demand, without free tiers, savings plans or volume discounts. A name says the unit: per million of something, per GB
 * (10^9 bytes), per GB-second of memory, or per month (`monthly`).
 */
export const prices = {
  apiGateway: {
    /** REST API, first 333 million a month. A streamed answer counts as one request for every 10 MB that it begins. */
    perMillionRequests: 3.5,
  },
  lambda: {
    perMillionRequests: 0.2,
    /** arm64, first 7.5 billion GB-seconds a month; billed by the millisecond, the loading of a cold start included. */
    perGbSecondArm: 0.000_013_333_4,
  },
  dynamodb: {
    perMillionWriteUnits: 0.625,
    perMillionReadUnits: 0.125,
    /** Standard table class. */
    perGbStoredMonthly: 0.25,
    /** Continuous backups (point-in-time recovery), by the size of table and indexes. */
    perGbPointInTimeRecoveryMonthly: 0.2,
  },
  logs: {
    /** CloudWatch Logs, standard class, custom logs and the first tier of Lambda's (10 TB a month). */
    perGbIngested: 0.5,
  },
  cloudWatch: {
    /** First 10,000 metrics; each combination of name and dimension values is one, billed by the hour in which it has values. */
    perMetricMonthly: 0.3,
    /** Standard resolution, per metric that the alarm looks at. */
    perAlarmMetricMonthly: 0.1,
    perDashboardMonthly: 3,
  },
  xray: {
    perMillionTracesRecorded: 5,
  },
  waf: {
    perWebAclMonthly: 5,
    /** A managed rule group counts as one rule. */
    perRuleMonthly: 1,
    perMillionRequests: 0.6,
  },
  kms: {
    /** A customer-managed key; keys that AWS owns or manages cost nothing to keep. */
    perKeyMonthly: 1,
  },
  dataTransfer: {
    /** To the internet, first 10 TB a month (after 100 GB free for the account). */
    perGbOut: 0.09,
  },
} as const;

/** Share of the requests that X-Ray records (see inventory-api.ts). */
export const TRACED_SHARE = 0.05;

/** The page that each service's prices come from. */
export const priceSources: Readonly<Record<keyof typeof prices, string>> = {
  apiGateway: 'https://aws.amazon.com/api-gateway/pricing/',
  lambda: 'https://aws.amazon.com/lambda/pricing/',
  dynamodb: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  logs: 'https://aws.amazon.com/cloudwatch/pricing/',
  cloudWatch: 'https://aws.amazon.com/cloudwatch/pricing/',
  xray: 'https://aws.amazon.com/xray/pricing/',
  waf: 'https://aws.amazon.com/waf/pricing/',
  kms: 'https://aws.amazon.com/kms/pricing/',
  dataTransfer: 'https://aws.amazon.com/ec2/pricing/on-demand/',
};
