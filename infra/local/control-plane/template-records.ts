import * as v from 'valibot';
import { LocalServerError } from '../local-server-error.ts';
import type { ServedStack } from '../template/stack.ts';
import type { GatewayRecords } from './gateway-records.ts';

const stagesSchema = v.array(v.object({ ApiId: v.string(), Stage: v.string() }));
const throttleSchema = v.optional(v.object({ RateLimit: v.number(), BurstLimit: v.number() }));
const quotaSchema = v.optional(v.object({ Limit: v.number(), Period: v.literal('DAY') }));
/** CloudFormation's list of tags, as a map. */
const tagsSchema = v.pipe(
  v.optional(v.array(v.object({ Key: v.string(), Value: v.string() })), []),
  v.transform((list): Record<string, string> => Object.fromEntries(list.map(({ Key, Value }) => [Key, Value]))),
);

/**
 * Adds the template's usage plans and API keys to the records, and its keys to its plans.
 *
 * @throws LocalServerError for a reference to another stack, or a duplicate value of a key
 */
export function applyTemplate(records: GatewayRecords, stack: ServedStack): void {
  for (const plan of stack.resources('AWS::ApiGateway::UsagePlan')) {
    const throttle = plan.read('Throttle', throttleSchema);
    const quota = plan.read('Quota', quotaSchema);
    records.putUsagePlan({
      id: plan.ref,
      name: plan.text('UsagePlanName'),
      apiStages: plan.read('ApiStages', stagesSchema).map(({ ApiId, Stage }) => ({ apiId: ApiId, stage: Stage })),
      throttle: throttle && { rateLimit: throttle.RateLimit, burstLimit: throttle.BurstLimit },
      quota: quota && { limit: quota.Limit, offset: 0, period: 'DAY' },
      tags: plan.read('Tags', tagsSchema),
    });
  }
  for (const key of stack.resources('AWS::ApiGateway::ApiKey')) {
    const { ref: id, logicalId } = key;
    const value = key.text('Value');
    const holder = records.apiKeyWithValue(value);
    if (holder && holder.id !== id) {
      throw new LocalServerError(
        `Resource ${logicalId}: the API key ${holder.id} in the data directory has the same value`,
      );
    }
    const enabled = key.read('Enabled', v.optional(v.boolean(), false));
    const description = key.read('Description', v.optional(v.string()));
    const tags = key.read('Tags', tagsSchema);
    records.putApiKeyOfTemplate({ id, value, enabled, description, createdAt: Date.now(), tags });
  }
  for (const planKey of stack.resources('AWS::ApiGateway::UsagePlanKey')) {
    const plan = stack.find('AWS::ApiGateway::UsagePlan', planKey.text('UsagePlanId'));
    const key = records.apiKey(stack.find('AWS::ApiGateway::ApiKey', planKey.text('KeyId')).ref);
    if (key) records.putApiKey({ ...key, planId: plan.ref });
  }
}
