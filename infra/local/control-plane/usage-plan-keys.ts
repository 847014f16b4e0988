import * as v from 'valibot';
import type { ApiKey } from '../gateway-records/records.ts';
import { findApiKey, withNamePrefix } from './api-keys.ts';
import { type Call, type Gateway, type Operation, pageOf, pagingParameters, parseBody } from './call.ts';
import { conflict, notFound } from './control-plane-error.ts';
import { checkOnlyPlanOfStage, findPlan } from './usage-plans.ts';

const createBodySchema = v.strictObject({ keyId: v.string(), keyType: v.literal('API_KEY') });

const keysPath = '/usageplans/{usageplanId}/keys';
const keyPath = `${keysPath}/{keyId}`;

export const usagePlanKeyOperations: readonly Operation[] = [
  { name: 'CreateUsagePlanKey', method: 'POST', path: keysPath, status: 201, run: createUsagePlanKey },
  {
    name: 'GetUsagePlanKeys',
    method: 'GET',
    path: keysPath,
    query: [...pagingParameters, 'name'],
    status: 200,
    run: getUsagePlanKeys,
  },
  {
    name: 'GetUsagePlanKey',
    method: 'GET',
    path: keyPath,
    status: 200,
    run: (gateway, call) => answerOf(findKeyOnPlan(gateway, call)),
  },
  {
    name: 'DeleteUsagePlanKey',
    method: 'DELETE',
    path: keyPath,
    status: 202,
    run: (gateway, call) =>
      gateway.records.removeFromPlan(call.parameter('usageplanId'), findKeyOnPlan(gateway, call).id),
  },
];

function createUsagePlanKey(gateway: Gateway, call: Call): unknown {
  const { records } = gateway;
  const plan = findPlan(gateway, call);
  const apiKey = findApiKey(gateway, parseBody(createBodySchema, call.body).keyId);
  if (records.isOnPlan(plan.id, apiKey.id)) {
    throw conflict(`API Key ${apiKey.id} is on Usage Plan ${plan.id} already`);
  }
  checkOnlyPlanOfStage(gateway, plan, apiKey.id);
  records.putOnPlan(plan.id, apiKey.id);
  return answerOf(apiKey);
}

function getUsagePlanKeys(gateway: Gateway, call: Call): unknown {
  const apiKeys = gateway.records.keysOnPlan(findPlan(gateway, call).id);
  const { items, position } = pageOf(withNamePrefix(apiKeys, call.query), call.query);
  return { item: items.map(answerOf), position };
}

function findKeyOnPlan(gateway: Gateway, call: Call): ApiKey {
  const plan = findPlan(gateway, call);
  const apiKey = gateway.records.apiKey(call.parameter('keyId'));
  if (!apiKey || !gateway.records.isOnPlan(plan.id, apiKey.id)) {
    throw notFound('Invalid Usage Plan Key identifier specified');
  }
  return apiKey;
}

/** A key on a plan as the API gives it, always with its value. */
function answerOf({ id, value, name }: ApiKey): unknown {
  return { id, type: 'API_KEY', value, name };
}
