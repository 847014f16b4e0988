import * as v from 'valibot';
import { isSameStage, sharedStages, tagsSchema, type UsagePlan } from './records.ts';
import {
  applyPatches,
  badRequest,
  type Call,
  conflict,
  type Gateway,
  notFound,
  type Operation,
  pageOf,
  pagingParameters,
  parseBody,
  type Patches,
} from './call.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2_147_483_647));

/** The settings of a usage plan, as a call sends them. The host applies no throttle of a method, so it takes none. */
const settingsSchema = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1)),
  description: v.optional(v.string()),
  apiStages: v.optional(v.array(v.strictObject({ apiId: v.string(), stage: v.string() })), []),
  throttle: v.optional(v.strictObject({ rateLimit: v.pipe(v.number(), v.minValue(0), v.finite()), burstLimit: count })),
  quota: v.optional(
    v.strictObject({
      limit: count,
      offset: v.optional(v.literal(0, 'This host knows no quota that starts later than its period')),
      period: v.literal('DAY', 'This host knows quotas of a DAY only'),
    }),
  ),
});
const createBodySchema = v.strictObject({ ...settingsSchema.entries, tags: v.optional(tagsSchema, {}) });

type Settings = v.InferOutput<typeof settingsSchema>;

/** Settings while they are changed: they are checked when all changes are made. */
type Draft = Omit<Settings, 'throttle' | 'quota'> & {
  readonly throttle?: object | undefined;
  readonly quota?: object | undefined;
};

/** Sets a member, or a part of it; a number that is none is refused with the rest of the settings. */
const set =
  (member: 'throttle' | 'quota', part: string, isNumber = true) =>
  (plan: Draft, value: string): Draft => ({
    ...plan,
    // Number('') would be 0.
    [member]: { ...plan[member], [part]: isNumber ? Number(value || Number.NaN) : value },
  });

const patches: Patches<Draft> = {
  'add /apiStages': (plan, value) => ({ ...plan, apiStages: [...plan.apiStages, stageOf(value)] }),
  'remove /apiStages': (plan, value) => {
    const stage = stageOf(value);
    const apiStages = plan.apiStages.filter((other) => !isSameStage(stage, other));
    if (apiStages.length === plan.apiStages.length) throw notFound(`API Stage not found: ${value}`);
    return { ...plan, apiStages };
  },
  'replace /description': (plan, description) => ({ ...plan, description }),
  'replace /name': (plan, name) => ({ ...plan, name }),
  'add /quota/limit': set('quota', 'limit'),
  'replace /quota/limit': set('quota', 'limit'),
  'add /quota/period': set('quota', 'period', false),
  'replace /quota/period': set('quota', 'period', false),
  'remove /quota': (plan) => ({ ...plan, quota: undefined }),
  'add /throttle/rateLimit': set('throttle', 'rateLimit'),
  'replace /throttle/rateLimit': set('throttle', 'rateLimit'),
  'add /throttle/burstLimit': set('throttle', 'burstLimit'),
  'replace /throttle/burstLimit': set('throttle', 'burstLimit'),
  'remove /throttle': (plan) => ({ ...plan, throttle: undefined }),
};

const path = '/usageplans/:usageplanId';

export const usagePlanOperations: readonly Operation[] = [
  { name: 'CreateUsagePlan', route: 'POST /usageplans', run: createUsagePlan },
  { name: 'GetUsagePlans', route: 'GET /usageplans', query: [...pagingParameters, 'keyId'], run: getUsagePlans },
  { name: 'GetUsagePlan', route: `GET ${path}`, run: (gateway, call) => usagePlanBody(findPlan(gateway, call)) },
  { name: 'UpdateUsagePlan', route: `PATCH ${path}`, run: updateUsagePlan },
  { name: 'DeleteUsagePlan', route: `DELETE ${path}`, run: deleteUsagePlan },
];

/** The usage plan that the path of a call names. @throws ControlPlaneError where there is none with the id */
export function findPlan({ records }: Gateway, { parameter }: Call): UsagePlan {
  const plan = records.usagePlan(parameter('usageplanId'));
  if (!plan) throw notFound('Invalid Usage Plan ID specified');
  return plan;
}

function createUsagePlan(gateway: Gateway, { body }: Call): unknown {
  const { tags, ...settings } = parseBody(createBodySchema, body);
  const plan = planWith(gateway, { id: gateway.records.newId(), tags }, settings);
  gateway.records.putUsagePlan(plan);
  return usagePlanBody(plan);
}

function getUsagePlans({ records }: Gateway, { query }: Call): unknown {
  const keyId = query.get('keyId');
  const { items, position } = pageOf(keyId === null ? records.usagePlans : records.plansOfKey(keyId), query);
  return { item: items.map(usagePlanBody), position };
}

function updateUsagePlan(gateway: Gateway, call: Call): unknown {
  const plan = findPlan(gateway, call);
  const { id: _, tags: __, ...settings } = asSent(plan);
  const patched = planWith(gateway, plan, parseBody(settingsSchema, applyPatches(settings, call.body, patches)));
  for (const { id } of gateway.records.keysOnPlan(plan.id)) checkOnlyPlanOfStage(gateway, patched, id);
  gateway.records.putUsagePlan(patched);
  return usagePlanBody(patched);
}

function deleteUsagePlan(gateway: Gateway, call: Call): void {
  const { id, apiStages } = findPlan(gateway, call);
  const [stage] = apiStages;
  if (stage) {
    throw badRequest(
      `Cannot delete Usage Plan ${id} because there are API Stages associated with it, including ` +
        `${stage.apiId}:${stage.stage}`,
    );
  }
  gateway.records.deleteUsagePlan(id);
}

/** @throws ControlPlaneError on a stage that is not there, or is there twice */
function planWith({ apiStage }: Gateway, plan: Pick<UsagePlan, 'id' | 'tags'>, settings: Settings): UsagePlan {
  for (const [index, stage] of settings.apiStages.entries()) {
    const place = `{api: ${stage.apiId}, stage: ${stage.stage}}`;
    if (!isSameStage(stage, apiStage)) throw notFound(`Invalid API Stage ${place} specified for usageplan ${plan.id}`);
    if (index > 0) throw conflict(`API Stage ${place} is already associated with usageplan ${plan.id}`);
  }
  return { id: plan.id, tags: plan.tags, ...settings, quota: settings.quota && { limit: settings.quota.limit } };
}

/** A stage as patch operations name it: `apiId:stage`. */
function stageOf(value: string): Settings['apiStages'][number] {
  const [apiId = '', stage = ''] = value.split(':');
  return { apiId, stage };
}

const asSent = ({ quota, ...plan }: UsagePlan) => ({
  ...plan,
  ...(quota && { quota: { limit: quota.limit, offset: 0, period: 'DAY' } }),
});

/** A plan as the API gives it. */
function usagePlanBody(usagePlan: UsagePlan): unknown {
  const { tags, ...plan } = asSent(usagePlan);
  return { ...plan, ...(Object.keys(tags).length > 0 && { tags }) };
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
