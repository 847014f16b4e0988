import * as v from 'valibot';
import type { Quota, UsagePlan } from '../gateway-records/usage-plan.ts';
import { badRequest, ControlPlaneError, notFound } from './control-plane-error.ts';
import { type Call, type Gateway, type Operation, parameter } from './operation.ts';
import { pageOf, pagingParameters } from './paging.ts';
import { applyPatches } from './patch-operations.ts';
import { parseBody } from './request-body.ts';
import { parseTags, tagsMember } from './tag-rules.ts';
import { usagePlanPatches } from './usage-plan-patches.ts';
import { checkOnlyPlanOfStage, planSettingsSchema, type PlanSettings, planWith } from './usage-plan-rules.ts';

/** Of an account and region. */
const MAX_PLANS = 300;

const createBodySchema = v.strictObject({ ...planSettingsSchema.entries, tags: v.optional(v.unknown(), {}) });

const path = '/usageplans/{usageplanId}';

export const usagePlanOperations: readonly Operation[] = [
  { name: 'CreateUsagePlan', method: 'POST', path: '/usageplans', status: 201, run: createUsagePlan },
  {
    name: 'GetUsagePlans',
    method: 'GET',
    path: '/usageplans',
    query: [...pagingParameters, 'keyId'],
    status: 200,
    run: getUsagePlans,
  },
  {
    name: 'GetUsagePlan',
    method: 'GET',
    path,
    status: 200,
    run: (gateway, call) => answerOf(findUsagePlan(gateway, parameter(call, 'usageplanId'))),
  },
  { name: 'UpdateUsagePlan', method: 'PATCH', path, status: 200, run: updateUsagePlan },
  { name: 'DeleteUsagePlan', method: 'DELETE', path, status: 202, run: deleteUsagePlan },
];

/** @throws ControlPlaneError where there is none with the id */
export function findUsagePlan({ records }: Gateway, id: string): UsagePlan {
  const plan = records.usagePlan(id);
  if (!plan) throw notFound('Invalid Usage Plan ID specified');
  return plan;
}

function createUsagePlan(gateway: Gateway, { body }: Call): unknown {
  const { records } = gateway;
  const { tags, ...settings } = parseBody(createBodySchema, body);
  const plan = planWith(gateway, { id: records.newId(), tags: parseTags(tags) }, settings);
  if (records.usagePlans.length >= MAX_PLANS) {
    throw new ControlPlaneError('LimitExceededException', `An account can have at most ${MAX_PLANS} usage plans`);
  }
  records.putUsagePlan(plan);
  return answerOf(plan);
}

function getUsagePlans({ records }: Gateway, { query }: Call): unknown {
  const keyId = query.text('keyId');
  const { items, position } = pageOf(keyId === undefined ? records.usagePlans : records.plansOfKey(keyId), query);
  return { item: items.map(answerOf), position };
}

function updateUsagePlan(gateway: Gateway, call: Call): unknown {
  const plan = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const { id: _, tags: __, ...others } = plan;
  const settings: PlanSettings = { ...others, quota: plan.quota && asSent(plan.quota) };
  const patched = planWith(gateway, plan, applyPatches(settings, call.body, usagePlanPatches));
  for (const { id } of gateway.records.keysOnPlan(plan.id)) checkOnlyPlanOfStage(gateway, patched, id);
  gateway.records.putUsagePlan(patched);
  return answerOf(patched);
}

function deleteUsagePlan(gateway: Gateway, call: Call): void {
  const { id, apiStages } = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const [stage] = apiStages;
  if (stage) {
    throw badRequest(
      `Cannot delete Usage Plan ${id} because there are API Stages associated with it, including ` +
        `${stage.apiId}:${stage.stage}`,
    );
  }
  gateway.records.deleteUsagePlan(id);
}

/** A plan as the API gives it. */
function answerOf({ tags, quota, ...plan }: UsagePlan): unknown {
  return { ...plan, ...(quota && { quota: asSent(quota) }), ...tagsMember(tags) };
}

const asSent = ({ limit }: Quota) => ({ limit, offset: 0, period: 'DAY' }) as const;
