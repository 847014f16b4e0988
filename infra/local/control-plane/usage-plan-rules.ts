import * as v from 'valibot';
import {
  type ApiStage,
  isSameStage,
  type Quota,
  sharedStages,
  type Throttle,
  type UsagePlan,
} from '../gateway-records/usage-plan.ts';
import { badRequest, conflict, notFound } from './control-plane-error.ts';
import type { Gateway } from './operation.ts';

const MAX_INTEGER = 2_147_483_647;
const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_INTEGER));

const throttleSchema = v.strictObject({
  rateLimit: v.optional(v.pipe(v.number(), v.minValue(0), v.finite())),
  burstLimit: v.optional(count),
});
const quotaSchema = v.strictObject({
  limit: v.optional(count),
  offset: v.optional(v.literal(0, 'This host knows no quota that starts later than its period')),
  period: v.optional(v.literal('DAY', 'This host knows quotas of a DAY only')),
});

/** The settings of a usage plan that a call may send, each right by itself. */
export const planSettingsSchema = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
  description: v.optional(v.string()),
  apiStages: v.optional(
    v.array(
      v.strictObject({
        apiId: v.string(),
        stage: v.string(),
        // A throttle per method would be one that the host does not apply.
        throttle: v.optional(v.strictObject({})),
      }),
    ),
    [],
  ),
  throttle: v.optional(throttleSchema),
  quota: v.optional(quotaSchema),
});

export type PlanSettings = v.InferOutput<typeof planSettingsSchema>;

/**
 * The plan with these settings.
 *
 * @throws ControlPlaneError where they do not go together, or name a stage that is not there
 */
export function planWith(
  gateway: Gateway,
  { id, tags }: Pick<UsagePlan, 'id' | 'tags'>,
  settings: PlanSettings,
): UsagePlan {
  const apiStages = settings.apiStages.map(({ apiId, stage }) => ({ apiId, stage }));
  checkStages(gateway, id, apiStages);
  const { name, description } = settings;
  return {
    id,
    name,
    description,
    apiStages,
    throttle: settings.throttle && throttleOf(settings.throttle),
    quota: settings.quota && quotaOf(settings.quota),
    tags,
  };
}

function checkStages({ apiStage }: Gateway, planId: string, stages: readonly ApiStage[]): void {
  for (const [index, stage] of stages.entries()) {
    const place = `{api: ${stage.apiId}, stage: ${stage.stage}}`;
    if (!isSameStage(stage, apiStage)) throw notFound(`Invalid API Stage ${place} specified for usageplan ${planId}`);
    const isRepeated = stages.slice(0, index).some((other) => isSameStage(other, stage));
    if (isRepeated) throw conflict(`API Stage ${place} is already associated with usageplan ${planId}`);
  }
}

function throttleOf({ rateLimit, burstLimit }: NonNullable<PlanSettings['throttle']>): Throttle {
  if (rateLimit === undefined || burstLimit === undefined) {
    throw badRequest('Usage Plan throttle must have a rateLimit and a burstLimit');
  }
  return { rateLimit, burstLimit };
}

function quotaOf({ limit, period }: NonNullable<PlanSettings['quota']>): Quota {
  if (limit === undefined || period === undefined) throw badRequest('Usage Plan quota must have a limit and a period');
  return { limit };
}

/** @throws ControlPlaneError where the key would be on two plans of a stage */
export function checkOnlyPlanOfStage({ records }: Gateway, plan: UsagePlan, keyId: string): void {
  for (const other of records.plansOfKey(keyId)) {
    const [shared] = other.id === plan.id ? [] : sharedStages(other, plan);
    if (!shared) continue;
    throw conflict(
      `Usage Plan ${plan.id} cannot be added because API Key ${keyId} cannot reference multiple Usage Plans with the ` +
        `same API stage: ${shared.apiId}:${shared.stage}`,
    );
  }
}
