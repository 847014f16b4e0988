import * as v from 'valibot';

/** Tags of a resource. */
type Tags = Readonly<Record<string, string>>;

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
  tags: tagsSchema,
});

export type ApiKey = v.InferOutput<typeof apiKeySchema>;

/** A stage of an API that a usage plan is for. */
export interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/** A token bucket per key: requests a second, and size of the bucket. */
export interface Throttle {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** A usage plan, as the template has it. */
export interface UsagePlan {
  readonly id: string;
  readonly name: string;
  readonly apiStages: readonly ApiStage[];
  readonly throttle?: Throttle | undefined;
  /** Requests that a key may make in a UTC day. */
  readonly quota?: { readonly limit: number } | undefined;
  readonly tags: Tags;
}

/** The stage among those of a usage plan; undefined where the plan is not for it. */
export const stageOf = ({ apiStages }: UsagePlan, { apiId, stage }: ApiStage) =>
  apiStages.find((each) => each.apiId === apiId && each.stage === stage);
