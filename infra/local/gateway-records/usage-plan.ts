import * as v from 'valibot';
import { tagsSchema } from './tags.ts';

/** A stage of an API that a usage plan is for. */
const apiStageSchema = v.object({ apiId: v.string(), stage: v.string() });

/** Requests that a key may make in a UTC day. */
const quotaSchema = v.object({ limit: v.number() });

/** A token bucket per key: requests a second, and size of the bucket. */
const throttleSchema = v.object({ rateLimit: v.number(), burstLimit: v.number() });

export const usagePlanSchema = v.object({
  id: v.string(),
  name: v.string(),
  description: v.optional(v.string()),
  apiStages: v.array(apiStageSchema),
  throttle: v.optional(throttleSchema),
  quota: v.optional(quotaSchema),
  tags: tagsSchema,
});

export type ApiStage = Readonly<v.InferOutput<typeof apiStageSchema>>;
export type Quota = Readonly<v.InferOutput<typeof quotaSchema>>;
export type Throttle = Readonly<v.InferOutput<typeof throttleSchema>>;
export type UsagePlan = Readonly<v.InferOutput<typeof usagePlanSchema>>;

export const isSameStage = (a: ApiStage, b: ApiStage): boolean => a.apiId === b.apiId && a.stage === b.stage;

/** The stages that both plans are for. */
export const sharedStages = (a: UsagePlan, b: UsagePlan): ApiStage[] =>
  a.apiStages.filter((stage) => b.apiStages.some((other) => isSameStage(stage, other)));
