import { APIGatewayClient, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { expect, test } from '@jest/globals';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';

const STAGE = { apiId: 'a1b2c3d4e5', stage: 'v1' };

/** What the service makes of a usage plan. */
function read(differences: UsagePlan) {
  const client = new APIGatewayClient({ region: 'eu-central-1' });
  const items = [{ id: 'pl4n1d', name: 'Acme', apiStages: [STAGE], ...differences }];
  client.middlewareStack.add(() => () => Promise.resolve({ output: { $metadata: {}, items }, response: undefined }), {
    step: 'initialize',
  });
  return customerPlans(client, STAGE);
}

test.each<[UsagePlan, string | undefined]>([
  [{ tags: { plan: 'free' } }, 'free'],
  [{ tags: { plan: 'gold' } }, undefined],
  [{}, undefined],
])('A usage plan with %j is one that customers are on: on the plan %s', async (differences, plan) => {
  expect(await read(differences)).toEqual([{ usagePlanId: 'pl4n1d', name: 'Acme', plan }]);
});

test.each<[string, UsagePlan]>([
  ['on no stage', { apiStages: [], tags: {} }],
  ['of another stage', { apiStages: [{ ...STAGE, stage: 'v2' }], tags: { plan: 'free' } }],
  ['that is internal', { tags: { plan: 'internal' } }],
])('A usage plan %s is none of our business', async (_, differences) => {
  expect(await read(differences)).toEqual([]);
});
