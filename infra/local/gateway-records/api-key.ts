import * as v from 'valibot';
import { tagsSchema } from './tags.ts';

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

export type ApiKey = v.InferOutput<typeof apiKeySchema>;
