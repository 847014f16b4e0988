import { HostError } from '../host-error.ts';
import type { ServedStack } from '../template/stack.ts';
import type { GatewayRecords } from './gateway-records.ts';

/**
 * Adds the template's usage plans and API keys to the records, and puts its keys on its plans.
 *
 * @throws HostError on a reference to another stack, or on a key whose value another key has
 */
export function applyTemplate(records: GatewayRecords, stack: ServedStack): void {
  for (const { ref: id, properties } of stack.resources('AWS::ApiGateway::UsagePlan')) {
    const { UsagePlanName: name, ApiStages, Throttle, Quota, Tags: tags } = properties;
    const apiStages = ApiStages.map(({ ApiId, Stage }) => ({ apiId: ApiId, stage: Stage }));
    const throttle = Throttle && { rateLimit: Throttle.RateLimit, burstLimit: Throttle.BurstLimit };
    records.putUsagePlan({ id, name, apiStages, throttle, quota: Quota && { limit: Quota.Limit }, tags });
  }
  for (const { logicalId, ref: id, properties } of stack.resources('AWS::ApiGateway::ApiKey')) {
    const { Value: value, Enabled: enabled, Description: description, Tags: tags } = properties;
    const holder = records.apiKeyWithValue(value);
    if (holder && holder.id !== id) {
      throw new HostError(`Resource ${logicalId}: the API key ${holder.id} in the data folder has the same value`);
    }
    records.putApiKeyOfTemplate({ id, value, enabled, description, createdAt: Date.now(), tags });
  }
  for (const { logicalId, properties } of stack.resources('AWS::ApiGateway::UsagePlanKey')) {
    const { KeyId, UsagePlanId } = properties;
    if (!records.plans.has(UsagePlanId))
      throw new HostError(`Resource ${logicalId}: the template has no ${UsagePlanId}`);
    if (!records.apiKey(KeyId)) throw new HostError(`Resource ${logicalId}: the template has no ${KeyId}`);
    records.putOnPlan(UsagePlanId, KeyId);
  }
}
