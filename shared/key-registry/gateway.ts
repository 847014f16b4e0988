import {
  APIGatewayClient,
  type APIGatewayClientConfig,
  NotFoundException,
  paginateGetUsagePlans,
  TooManyRequestsException,
  type UsagePlan,
} from '@aws-sdk/client-api-gateway';
import pThrottle from 'p-throttle';
import { planIds } from '../keys/plans.ts';
import { gatewayTags, INTERNAL_PLAN } from './gateway-tags.ts';

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

/** The usage plans for customers of the stage, or those of one key. The list may be minutes old. */
export async function customerPlans(
  client: APIGatewayClient,
  stage: ApiStage,
  query: { readonly keyId?: string } = {},
) {
  const pages = await Array.fromAsync(paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, query));
  const usagePlans = pages.flatMap(({ items = [] }) => items).filter((each) => isForCustomers(each, stage));
  return usagePlans.map(({ id: usagePlanId = '', name = usagePlanId, tags }) => ({
    usagePlanId,
    name,
    /** Undefined if its tag is missing or unknown. */
    plan: planIds.find((each) => each === tags?.[gatewayTags.plan]),
  }));
}

export type CustomerPlan = Awaited<ReturnType<typeof customerPlans>>[number];

const isForCustomers = ({ apiStages = [], tags }: UsagePlan, { apiId, stage }: ApiStage): boolean =>
  tags?.[gatewayTags.plan] !== INTERNAL_PLAN &&
  apiStages.some((apiStage) => apiStage.apiId === apiId && apiStage.stage === stage);
