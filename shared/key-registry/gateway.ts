import {
  APIGatewayClient,
  type APIGatewayClientConfig,
  NotFoundException,
  paginateGetUsagePlans,
  TooManyRequestsException,
  type UsagePlan,
} from '@aws-sdk/client-api-gateway';
import pThrottle from 'p-throttle';
import { type PlanId, planIds } from '../keys/plans.ts';

/** The stage of a REST API with the service's usage plans and keys. */
export interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/** An account has 10 control-plane calls per second. At this rate two concurrent syncs leave some to an admin. */
const nextCallSlot = pThrottle({ limit: 10, interval: 2_500, strict: true })(() => Promise.resolve());

/** Max entries per page of a list. */
export const PAGE_SIZE = 500;

/** The clients of API Gateway's control plane. They share its rate limit. */
export interface GatewayClients {
  /** For reads. Retries when throttled. */
  readonly gateway: APIGatewayClient;
  /** For changes of keys. It does not retry: a retry may arrive after a later call. */
  readonly gatewayOnce: APIGatewayClient;
}

/** @param onThrottled called each time that a read is throttled */
export function gatewayClients(settings: APIGatewayClientConfig = {}, onThrottled?: () => void): GatewayClients {
  const gateway = new APIGatewayClient({ maxAttempts: 10, retryMode: 'adaptive', ...settings });
  const gatewayOnce = new APIGatewayClient({ ...settings, maxAttempts: 1 });
  for (const client of [gateway, gatewayOnce]) {
    client.middlewareStack.add(
      (next) => async (args) => {
        await nextCallSlot();
        try {
          return await next(args);
        } catch (error) {
          if (client === gateway && error instanceof TooManyRequestsException) onThrottled?.();
          throw error;
        }
      },
      // Within the retries, so each attempt is paced.
      { step: 'finalizeRequest', priority: 'low', name: 'paced' },
    );
  }
  return { gateway, gatewayOnce };
}

/** The response of a call; undefined if its resource no longer exists. */
export async function ignoreNotFound<Response>(call: Promise<Response>): Promise<Response | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}

/**
 * Tags that carry what API Gateway has no field for, on the API keys and usage plans of a stage.
 *
 * An admin may set them manually, in the console or with the AWS CLI.
 */
export const gatewayTags = {
  /** On a usage plan: the id of the plan in the catalog that its keys are on. */
  plan: 'plan',
  /** On a key of the Enterprise plan: agreed requests per minute. */
  perMinute: 'per-minute',
  /** On a key of the Enterprise plan: agreed requests per UTC day. */
  perDay: 'per-day',
  /** On a key: its expiry, as an ISO 8601 date or time. */
  expires: 'expires',
} as const;

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * An ISO 8601 date (its first moment in UTC), or a date with time and zone, as Unix milliseconds. NaN for any other
 * text: a time without a zone would depend on the computer.
 */
export function isoTime(text: string): number {
  const date = ISO_TIME.exec(text)?.[1];
  if (date === undefined) return Number.NaN;
  // `Date.parse` accepts February 30 as March 2.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const isRealDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
  return isRealDay ? Date.parse(text) : Number.NaN;
}

/**
 * Value of the tag `plan` on internal usage plans: Overflow meters refused requests; Interim meters
 * those of keys that may still propagate in API Gateway, and refuses none.
 */
export const INTERNAL_PLAN = 'internal';

/** A usage plan for customers of the stage. */
export interface CustomerPlan {
  readonly usagePlanId: string;
  readonly name: string;
  /** Undefined if its tag is missing or unknown. */
  readonly plan: PlanId | undefined;
}

/**
 * The usage plans for customers of the stage: one for each plan of the catalog.
 *
 * @param query of a key: the plans of the key, possibly minutes old
 */
export async function customerPlans(
  client: APIGatewayClient,
  stage: ApiStage,
  query: { readonly keyId?: string } = {},
): Promise<CustomerPlan[]> {
  const pages = await Array.fromAsync(paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, query));
  const usagePlans = pages.flatMap(({ items = [] }) => items).filter((each) => isForCustomers(each, stage));
  return usagePlans.map(({ id: usagePlanId = '', name = usagePlanId, tags }) => ({
    usagePlanId,
    name,
    plan: planIds.find((each) => each === tags?.[gatewayTags.plan]),
  }));
}

const isForCustomers = ({ apiStages = [], tags }: UsagePlan, { apiId, stage }: ApiStage): boolean =>
  tags?.[gatewayTags.plan] !== INTERNAL_PLAN &&
  apiStages.some((apiStage) => apiStage.apiId === apiId && apiStage.stage === stage);
