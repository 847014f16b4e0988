import * as v from 'valibot';

/** Tags of a resource. */
export type Tags = Readonly<Record<string, string>>;

/**
 * A map of texts, with every name that JSON can hold: `v.record` would leave out names such as `constructor` without a
 * word.
 */
export const tagsSchema = v.pipe(
  v.custom<Tags>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((text) => typeof text === 'string'),
    'Expected a map of strings',
  ),
  v.transform((tags): Tags => ({ ...tags })),
);

/** An API key of the gateway. What meters a request is its value. */
export const apiKeySchema = v.object({
  id: v.string(),
  value: v.string(),
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: v.number(),
  /** Unix milliseconds. */
  updatedAt: v.number(),
  tags: tagsSchema,
});

/** A stage of an API that a usage plan is for. */
const apiStageSchema = v.object({ apiId: v.string(), stage: v.string() });

/** A token bucket per key: requests a second, and size of the bucket. */
const throttleSchema = v.object({ rateLimit: v.number(), burstLimit: v.number() });

export const usagePlanSchema = v.object({
  id: v.string(),
  name: v.string(),
  description: v.optional(v.string()),
  apiStages: v.array(apiStageSchema),
  throttle: v.optional(throttleSchema),
  /** Requests that a key may make in a UTC day. */
  quota: v.optional(v.object({ limit: v.number() })),
  tags: tagsSchema,
});

export type ApiKey = v.InferOutput<typeof apiKeySchema>;
export type ApiStage = Readonly<v.InferOutput<typeof apiStageSchema>>;
export type Throttle = Readonly<v.InferOutput<typeof throttleSchema>>;
export type UsagePlan = Readonly<v.InferOutput<typeof usagePlanSchema>>;

export const isSameStage = (a: ApiStage, b: ApiStage): boolean => a.apiId === b.apiId && a.stage === b.stage;

/** The stages that both plans are for. */
export const sharedStages = (a: UsagePlan, b: UsagePlan): ApiStage[] =>
  a.apiStages.filter((stage) => b.apiStages.some((other) => isSameStage(stage, other)));
