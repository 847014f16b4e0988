import { type APIGatewayClient, paginateGetUsagePlans, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { type PlanId, planIds } from '../keys/plans.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags } from './gateway-tags.ts';

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
