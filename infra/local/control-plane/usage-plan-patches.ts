import * as v from 'valibot';
import { badRequest, notFound } from './control-plane-error.ts';
import type { Patch } from './patch-operations.ts';
import { parseBody } from './request-body.ts';
import { type PlanSettings, planSettingsSchema } from './usage-plan-rules.ts';

type PlanPatch = Patch<PlanSettings>;

const { name, quota, throttle } = planSettingsSchema.entries;

/** A path that can be added and replaced, which is the same here. */
const settable = (path: string, apply: PlanPatch['apply']): PlanPatch[] => [
  { op: 'add', path, apply },
  { op: 'replace', path, apply },
];

/** What UpdateUsagePlan takes. The settings that come out may not go together: that is checked at the end. */
export const usagePlanPatches: readonly PlanPatch[] = [
  { op: 'add', path: '/apiStages', apply: addStage },
  { op: 'remove', path: '/apiStages', apply: removeStage },
  { op: 'replace', path: '/description', apply: (plan, description) => ({ ...plan, description }) },
  { op: 'replace', path: '/name', apply: (plan, value) => ({ ...plan, name: parseBody(name, value) }) },
  { op: 'remove', path: '/quota', apply: (plan) => ({ ...plan, quota: undefined }) },
  ...settable('/quota/limit', (plan, value) => withQuota(plan, { limit: numberOf('/quota/limit', value) })),
  ...settable('/quota/period', (plan, period) => withQuota(plan, { period })),
  { op: 'remove', path: '/throttle', apply: (plan) => ({ ...plan, throttle: undefined }) },
  ...settable('/throttle/burstLimit', (plan, value) =>
    withThrottle(plan, { burstLimit: numberOf('/throttle/burstLimit', value) }),
  ),
  ...settable('/throttle/rateLimit', (plan, value) =>
    withThrottle(plan, { rateLimit: numberOf('/throttle/rateLimit', value) }),
  ),
];

function withQuota(plan: PlanSettings, part: Readonly<Record<string, unknown>>): PlanSettings {
  return { ...plan, ...parseBody(v.object({ quota }), { quota: { ...plan.quota, ...part } }) };
}

function withThrottle(plan: PlanSettings, part: Readonly<Record<string, unknown>>): PlanSettings {
  return { ...plan, ...parseBody(v.object({ throttle }), { throttle: { ...plan.throttle, ...part } }) };
}

function addStage(plan: PlanSettings, value: string): PlanSettings {
  return { ...plan, apiStages: [...plan.apiStages, stageOf(value)] };
}

function removeStage(plan: PlanSettings, value: string): PlanSettings {
  const { apiId, stage } = stageOf(value);
  const apiStages = plan.apiStages.filter((other) => other.apiId !== apiId || other.stage !== stage);
  if (apiStages.length === plan.apiStages.length) throw notFound(`API Stage not found: ${value}`);
  return { ...plan, apiStages };
}

/** A stage as patch operations name it: `apiId:stage`. */
function stageOf(value: string): PlanSettings['apiStages'][number] {
  const [, apiId, stage] = /^([^:]+):([^:]+)$/.exec(value) ?? [];
  if (apiId === undefined || stage === undefined) throw notFound(`API Stage not found: ${value}`);
  return { apiId, stage };
}

function numberOf(path: string, value: string): number {
  if (!/^\d{1,15}(\.\d{1,15})?$/.test(value)) throw badRequest(`${path} must be a number, not '${value}'`);
  return Number(value);
}
