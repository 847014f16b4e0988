import { type ExactLimits, MAX_PER_DAY, MAX_PER_MINUTE, plans } from '../shared/keys/plans.ts';

/** The stages that the pipeline deploys. */
export const stageNames = ['staging', 'production'] as const;
export type StageName = (typeof stageNames)[number];

/** A developer's own stage, such as `dev-ann`. */
export type PersonalStageName = `dev-${string}`;
export type AnyStageName = StageName | PersonalStageName;

export const STAGE_NAMES = 'staging, production, or dev- and up to 18 lowercase letters, digits and hyphens';

/** @returns undefined for an invalid name. `dev-…-Inventory` must fit the 32 characters of an X-Ray rule */
export function parseStageName(text: string): AnyStageName | undefined {
  return stageNames.find((name) => name === text) ?? (isPersonal(text) ? text : undefined);
}

export const isPersonal = (text: string): text is PersonalStageName => /^dev-[a-z0-9][a-z0-9-]{0,17}$/.test(text);

/** The settings of a stage. Account and region come from the environment of the deployment. */
export interface StageSettings {
  readonly name: AnyStageName;
  /** Qualifier of the CDK bootstrap: the standard one, or another of `cdk bootstrap --qualifier`. */
  readonly qualifier: string;
  /** Retain the tables when the stack is deleted, and protect them from deletion. */
  readonly retainData: boolean;
  /** All tables each night, for 35 days: in a vault (its name), and elsewhere (an ARN). Create both first. */
  readonly backup?: { readonly vault: string; readonly copyTo: string };
  readonly logRetentionDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 731;
  /** They roll a canary back. Prices of alarms, dashboard and firewall: docs/operating/costs.md. */
  readonly alarms: boolean;
  /** The recipients of alarms and recoveries. `npm run deploy` requires them, or an explicit `nobody`. */
  readonly alarmTargets?: AlarmTargets | 'nobody';
  /** One page of graphs in CloudWatch. */
  readonly dashboard: boolean;
  /** API Gateway's logs. This sets the role of all APIs in the account and region, and outlives the stage. */
  readonly gatewayLogs: boolean;
  /** The reference page, on CloudFront. AWS may have to enable CloudFront for a new account first. */
  readonly page: boolean;
  /** A `canary` gets 10% of the traffic for ten minutes, and an alarm rolls it back. */
  readonly rollout: 'canary' | 'allAtOnce';
  /** The firewall in front of the API. */
  readonly firewall?: FirewallSettings;
  /** Throttle of each method for all clients together, of the account's 10,000 requests per second for all its APIs. */
  readonly throttle: {
    /** At least the rate of the largest customer. */
    readonly requestsPerSecond: number;
    /** The account's burst: less would refuse a burst that the limits admit. */
    readonly burst: number;
  };
  readonly lists: {
    /** Max duration of a complete list: Lambda streams the longest one (200 MB) in 100 seconds. */
    readonly seconds: number;
    /**
     * Reserved concurrency per kind of list, so slow clients occupy no more of the account's. Not available to other
     * functions; 100 must stay unreserved, so not in a new account (10).
     */
    readonly concurrency?: number;
  };
  /**
   * Reserved concurrency of batch updates (`PATCH /inventory`), of half a second each: 6 keys at their full rate, with
   * their bursts and that of refused ones. Not available to other functions, or in a new account.
   */
  readonly batchConcurrency?: number;
  /** Changes of stock as events on a bus of the stage (docs/events.md). */
  readonly stockEvents: boolean;
  /** Custom domains of the API and the reference page; by default API Gateway's and CloudFront's. */
  readonly apiDomain?: Domain;
  readonly pageDomain?: Domain;
  /** Max limits of an Enterprise customer: raise them, and deploy, before a customer gets more. */
  readonly maxEnterpriseLimits: ExactLimits;
  /** Dates of deprecation and earliest removal of `GET /pets/{petId}`, in ISO 8601. */
  readonly petDeprecation: { readonly deprecatedAt: string; readonly sunsetAt: string };
}

export interface AlarmRecipients {
  /** Each address must confirm AWS's e-mail after the first deployment. */
  readonly emails: readonly string[];
  /** ARNs of existing SNS topics, such as a pager's. */
  readonly topicArns: readonly string[];
}

/** The recipients of pages, and of tickets without their own recipients. */
export interface AlarmTargets extends AlarmRecipients {
  readonly tickets?: AlarmRecipients;
}

export interface FirewallSettings {
  /**
   * Max requests of one IP address in five minutes: by default twice the limit of the largest customer, at least once.
   * A larger flood exhausts the throttle of a method for all clients, before any key is checked.
   */
  readonly requestsPerAddress?: number;
  /** Max requests without a bearer key, including preflights. */
  readonly requestsWithoutKey: number;
  /** Blocked addresses as CIDR ranges of IPv4, such as `192.0.2.44/32`: a rule of the firewall. */
  readonly blockedAddresses?: readonly string[];
}

export interface Domain {
  /** Such as `api.example.com`. */
  readonly name: string;
  /** Its ACM certificate: for the API in the region of the stage, for the page in us-east-1. */
  readonly certificateArn: string;
  /** The Route 53 zone for its records. Without one, create the record to the output `…DomainTarget` manually. */
  readonly hostedZone?: { readonly id: string; readonly name: string };
}

/** The default qualifier of `cdk bootstrap`. */
export const STANDARD_QUALIFIER = 'hnb659fds';

const petDeprecation = { deprecatedAt: '2026-11-21T00:00:00Z', sunsetAt: '2027-11-30T00:00:00Z' };

/** Common settings of staging and developers' stages. */
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

/** A developer's stage has nothing that outlives it or affects the whole account. */
const personal = { ...trialSettings, logRetentionDays: 1, gatewayLogs: false, page: false } as const;

const production: StageSettings = {
  name: 'production',
  qualifier: STANDARD_QUALIFIER,
  retainData: true,
  // The access log contains the clients' IP addresses.
  logRetentionDays: 30,
  alarms: true,
  dashboard: true,
  gatewayLogs: true,
  page: true,
  rollout: 'canary',
  firewall: { requestsWithoutKey: 2_000 },
  throttle: { requestsPerSecond: 2_500, burst: 5_000 },
  lists: { seconds: 120, concurrency: 100 },
  batchConcurrency: 55,
  stockEvents: true,
  // No customer has limits above Business yet.
  maxEnterpriseLimits: { perMinute: plans.business.limits.perMinute, perDay: 1_440 * plans.business.limits.perMinute },
  petDeprecation,
};

export const stages: Readonly<Record<StageName, StageSettings>> = { staging, production };

export const settingsOf = (name: AnyStageName): StageSettings =>
  isPersonal(name) ? { ...personal, name } : stages[name];

/** Why a stage must not be deployed: its alarms have no recipients. Undefined if they do, or are set to `nobody`. */
export const missingAlarmTargets = ({ name, alarms, alarmTargets }: StageSettings): string | undefined =>
  alarms && alarmTargets === undefined
    ? `The alarms of ${name} have no recipients: set alarmTargets in infra/stages.ts, or set it to 'nobody'`
    : undefined;

/** The CloudFormation name of a stage's stack. */
export const stackNameOf = (stage: AnyStageName): string => `${stage}-Inventory`;
