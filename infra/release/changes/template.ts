import * as v from 'valibot';

const resourceSchema = v.looseObject({
  Type: v.string(),
  Condition: v.optional(v.string()),
  DeletionPolicy: v.optional(v.string()),
  UpdateReplacePolicy: v.optional(v.string()),
  Properties: v.optional(v.looseObject({}), {}),
});

const templateSchema = v.looseObject({ Resources: v.optional(v.record(v.string(), resourceSchema), {}) });

/** A CloudFormation template, as far as it matters which resources it has. */
export type Template = v.InferOutput<typeof templateSchema>;
export type Resource = v.InferOutput<typeof resourceSchema>;

/** A stack by its place in the app, such as `production/Inventory`, and by its name in CloudFormation. */
export interface StackIdentity {
  readonly id: string;
  readonly name: string;
}

/** @returns undefined for what is no template */
export function asTemplate(value: unknown): Template | undefined {
  const parsed = v.safeParse(templateSchema, value);
  return parsed.success ? parsed.output : undefined;
}
