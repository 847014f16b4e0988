import * as v from 'valibot';
import type { ApiKey } from '../gateway-records/api-key.ts';
import { findApiKey } from './api-keys.ts';
import { conflict, notFound } from './control-plane-error.ts';
import { type Call, type Gateway, type Operation, parameter } from './operation.ts';
import { pageOf, pagingParameters } from './paging.ts';
import { parseBody } from './request-body.ts';
import { checkOnlyPlanOfStage } from './usage-plan-rules.ts';
import { findUsagePlan } from './usage-plans.ts';

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
      gateway.records.removeFromPlan(parameter(call, 'usageplanId'), findKeyOnPlan(gateway, call).id),
  },
];

function createUsagePlanKey(gateway: Gateway, call: Call): unknown {
  const { records } = gateway;
  const plan = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const key = findApiKey(gateway, parseBody(createBodySchema, call.body).keyId);
  if (records.isOnPlan(plan.id, key.id)) throw conflict(`API Key ${key.id} is on Usage Plan ${plan.id} already`);
  checkOnlyPlanOfStage(gateway, plan, key.id);
  records.putOnPlan(plan.id, key.id);
  return answerOf(key);
}

function getUsagePlanKeys(gateway: Gateway, call: Call): unknown {
  const plan = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const prefix = call.query.text('name') ?? '';
  const keys = gateway.records.keysOnPlan(plan.id).filter((key) => (key.name ?? '').startsWith(prefix));
  const { items, position } = pageOf(keys, call.query);
  return { item: items.map(answerOf), position };
}

function findKeyOnPlan(gateway: Gateway, call: Call): ApiKey {
  const plan = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const key = gateway.records.apiKey(parameter(call, 'keyId'));
  if (!key || !gateway.records.isOnPlan(plan.id, key.id)) throw notFound('Invalid Usage Plan Key identifier specified');
  return key;
}

/** A key on a plan as the API gives it, always with its value. */
function answerOf({ id, value, name }: ApiKey): unknown {
  return { id, type: 'API_KEY', value, name };
}
