import { type Limits, MAX_PER_DAY, MAX_PER_MINUTE, plans } from '../shared/keys/plans.ts';

/** The stages that the pipeline deploys. */
export const stageNames = ['staging', 'production'] as const;
export type StageName = (typeof stageNames)[number];

/** A developer's own stage, such as `dev-ann`. */
export type PersonalStageName = `dev-${string}`;
export type AnyStageName = StageName | PersonalStageName;

export const STAGE_NAMES = 'staging, production, or dev- and up to 18 lowercase letters, digits and hyphens';

/** @returns undefined where no stage can be called so. `dev-…-Inventory` must fit the 32 characters of an X-Ray rule */
export function parseStageName(text: string): AnyStageName | undefined {
  return stageNames.find((name) => name === text) ?? (isPersonal(text) ? text : undefined);
}

export const isPersonal = (text: string): text is PersonalStageName => /^dev-[a-z0-9][a-z0-9-]{0,17}$/.test(text);

/** The tables of the service, by what is in them. */
export const tableNames = ['stock', 'keys', 'pets', 'orders', 'requests', 'history'] as const;
export type TableName = (typeof tableNames)[number];

/** What differs between deployments of the service. Account and region come from the environment of the deploy. */
export interface StageSettings {
  readonly name: AnyStageName;
  /** Of the bootstrap that deploys the stage: the standard one, or another of `cdk bootstrap --qualifier`. */
  readonly qualifier: string;
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
  /** All tables each night, kept for 35 days here and in the AWS Backup vault of this ARN, elsewhere. */
  readonly backup?: { readonly copyTo: string };
  readonly logRetentionDays: LogRetentionDays;
  /** 0.10 USD a month for each metric that they check, some 2 together. They roll a canary back. */
  readonly alarms: boolean;
  /** The recipients of alarms and of their end. `npm run deploy` refuses alarms without: `nobody` has to be written. */
  readonly alarmTargets?: AlarmTargets | 'nobody';
  /** One page of graphs in CloudWatch: 3 USD a month. */
  readonly dashboard: boolean;
  /**
   * API Gateway's own logs. The account has one role for those of all APIs in a region, which this sets, and which
   * stays when the stage goes.
   */
  readonly gatewayLogs: boolean;
  /** The reference page, on CloudFront. A fresh account may have to ask AWS for CloudFront first. */
  readonly page: boolean;
  /** A `canary` takes a tenth of the requests for ten minutes, and an alarm rolls it back. */
  readonly rollout: 'canary' | 'allAtOnce';
  /** The firewall in front of the API: 9 USD a month, and 0.60 for a million requests. */
  readonly firewall?: FirewallSettings;
  readonly throttle: ThrottleSettings;
  readonly lists: ListSettings;
  /**
   * The most bulks (`PATCH /inventory`) that run at once: each writes 50 entries a second, and all stock is one
   * partition: 1,000 writes a second until DynamoDB splits it. Other functions lack these; a new account (10) refuses.
   */
  readonly batchConcurrency?: number;
  /**
   * Changes of stock as events on a bus of the stage (docs/events.md): two alarm metrics at rest, 1 USD a million
   * events, and for the function some 0.40 where each change comes by itself. Bulks of one Business key can make 2.5
   * million events a day.
   */
  readonly stockEvents: boolean;
  /** A name of one's own for the API, and for the reference page; by default API Gateway's and CloudFront's. */
  readonly apiDomain?: Domain;
  readonly pageDomain?: Domain;
  /** The most that an admin agrees with one Enterprise customer: raise it, and deploy, before a customer gets more. */
  readonly maxEnterpriseLimits: Limits;
  /** When `GET /pets/{petId}` was deprecated, and from when on it may be gone: times in ISO 8601. */
  readonly petDeprecation: { readonly deprecatedAt: string; readonly sunsetAt: string };
}

export type LogRetentionDays = 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 731;

export interface AlarmRecipients {
  /** Each address has to confirm the e-mail that AWS sends it after the first deploy. */
  readonly emails: readonly string[];
  /** ARNs of SNS topics that are there already, such as those of a pager. */
  readonly topicArns: readonly string[];
}

/** The recipients of pages, and of tickets too where these have none of their own. */
export interface AlarmTargets extends AlarmRecipients {
  readonly tickets?: AlarmRecipients;
}

/**
 * What each method takes from all clients together (API Gateway developer guide, "Throttle requests to your REST
 * APIs"), of the 10,000 requests a second that the account has for all of its APIs.
 */
export interface ThrottleSettings {
  /** At least what the largest customer may send. */
  readonly requestsPerSecond: number;
  /** As many as the account takes at once: less would refuse a burst that the limits admit. */
  readonly burst: number;
}

export interface ListSettings {
  /** The most that a reader of a whole list may take: Lambda streams the longest list (200 MB) in 100 seconds. */
  readonly seconds: number;
  /**
   * The most lists of one kind that run at once, so that slow readers hold no more of the account's functions. Other
   * functions lack these, and 100 have to stay: a fresh account (10) refuses it.
   */
  readonly concurrency?: number;
}

export interface FirewallSettings {
  /**
   * Requests that one address may send in five minutes. By default twice what the largest customer may send in the six
   * clock minutes that five minutes touch; less than once is refused. All above it is room for a flood, which fills the
   * throttle of a method for all clients: that acts before any key is looked at.
   */
  readonly requestsPerAddress?: number;
  /** Those of them without a bearer key, preflights of browsers included. */
  readonly requestsWithoutKey: number;
}

export interface Domain {
  /** Such as `api.example.com`. */
  readonly name: string;
  /** Its certificate in ACM: for the API in the region of the stage, for the page in us-east-1. */
  readonly certificateArn: string;
  /** The Route 53 zone that gets its records. Without one, point the name at the output `…DomainTarget` yourself. */
  readonly hostedZone?: { readonly id: string; readonly name: string };
}

/** Of the bootstrap that `cdk bootstrap` makes where it is given none. */
export const STANDARD_QUALIFIER = 'hnb659fds';

const petDeprecation = { deprecatedAt: '2026-11-21T00:00:00Z', sunsetAt: '2027-11-30T00:00:00Z' };

/** What staging and the stages of developers have in common: nothing that only one can have, such as a domain. */
const trialSettings = {
  qualifier: STANDARD_QUALIFIER,
  retainData: false,
  alarms: false,
  alarmTargets: 'nobody',
  dashboard: false,
  rollout: 'allAtOnce',
  throttle: { requestsPerSecond: 1_000, burst: 5_000 },
  lists: { seconds: 120 },
  stockEvents: true,
  maxEnterpriseLimits: { perMinute: MAX_PER_MINUTE, perDay: MAX_PER_DAY },
  petDeprecation,
} as const;

const staging: StageSettings = {
  ...trialSettings,
  name: 'staging',
  logRetentionDays: 30,
  gatewayLogs: true,
  page: true,
};

/** What outlives a stage, or is of the whole account, a developer's has not. */
const personal = { ...trialSettings, logRetentionDays: 1, gatewayLogs: false, page: false } as const;

/** The most of all plans whose limits are fixed. */
const { perMinute } = plans.business.limits;

const production: StageSettings = {
  name: 'production',
  qualifier: STANDARD_QUALIFIER,
  retainData: true,
  // The access log has the addresses of clients.
  logRetentionDays: 30,
  alarms: true,
  dashboard: true,
  gatewayLogs: true,
  page: true,
  rollout: 'canary',
  firewall: { requestsWithoutKey: 2_000 },
  throttle: { requestsPerSecond: 2_500, burst: 5_000 },
  lists: { seconds: 120, concurrency: 100 },
  batchConcurrency: 10,
  stockEvents: true,
  // No customer has agreed on more than Business yet.
  maxEnterpriseLimits: { perMinute, perDay: 1_440 * perMinute },
  petDeprecation,
};

export const stages: Readonly<Record<StageName, StageSettings>> = { staging, production };

export const settingsOf = (name: AnyStageName): StageSettings =>
  isPersonal(name) ? { ...personal, name } : stages[name];

/** Why a stage must not be deployed: its alarms have no recipients. Undefined if they do, or are set to `nobody`. */
export const missingAlarmTargets = ({ name, alarms, alarmTargets }: StageSettings): string | undefined =>
  alarms && alarmTargets === undefined
    ? `The alarms of ${name} have no recipients: set alarmTargets in infra/stages.ts, or write 'nobody' there`
    : undefined;

/** The name that CloudFormation knows the stack of a stage by. */
export const stackNameOf = (stage: AnyStageName): string => `${stage}-Inventory`;

/**
 * The exports by which the stacks of a stage know each other's addresses. CloudFormation refuses to change a value that
 * another stack imports: so these are AWS's own addresses, which never change, and not custom domains.
 */
export const exportNames = {
  /** Origin of the reference page as CloudFront has it: scheme and host. */
  pageOrigin: (stage: AnyStageName): string => `${stage}-ReferencePageOrigin`,
  /** Bucket that the page's files go to. */
  pageBucket: (stage: AnyStageName): string => `${stage}-ReferencePageBucket`,
  /** Base address of the API as API Gateway has it, which ends in its version. */
  baseUrl: (stage: AnyStageName): string => `${stage}-BaseUrl`,
} as const;
