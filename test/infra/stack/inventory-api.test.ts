import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apiGateway from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { batchThrottle, internalBatchThrottles } from '../../../infra/stack/usage-plans.ts';
import { type StageName, stageNames, stages } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { usagePlanLimits, plans as catalog } from '../../../shared/keys/plans.ts';
import { isIssued, parseToken } from '../../../shared/keys/token.ts';
import {
  inventoryTemplate,
  propertiesIn,
  propertiesOf,
  readableStage,
  resourceOf,
  resourcesIn,
} from '../../support/service-template.ts';

const staging = readableStage('staging');

test('Every method except preflights requires the authorizer and an API key', () => {
  const schema = v.looseObject({ HttpMethod: v.string() });
  const methods = propertiesOf(staging, 'AWS::ApiGateway::Method', schema).map(([, properties]) => properties);
  const preflights = methods.filter(({ HttpMethod }) => HttpMethod === 'OPTIONS');

  expect(preflights).toHaveLength(new Set(Object.values(operations).map(({ path }) => path)).size);
  for (const one of preflights) expect(one).toMatchObject({ AuthorizationType: 'NONE', Integration: { Type: 'MOCK' } });
  for (const one of methods.filter((method) => !preflights.includes(method)))
    expect(one).toMatchObject({ AuthorizationType: 'CUSTOM', AuthorizerId: '<ApiAuthorizer>', ApiKeyRequired: true });
});

test('Only this API may call the request functions, each by one permission, which depends on no stage', () => {
  const permissionSchema = v.object({
    Action: v.literal('lambda:InvokeFunction'),
    Principal: v.literal('apigateway.amazonaws.com'),
    FunctionName: v.string(),
    SourceArn: v.string(),
  });
  const permissions = propertiesOf(staging, 'AWS::Lambda::Permission', permissionSchema);
  const found = permissions.map(
    ([, { FunctionName, SourceArn }]) => `${FunctionName} ${SourceArn.split('<ApiRestApi>/')[1]}`,
  );
  const ofRequests = ['fallback', ...Object.keys(operations)].map((name) => [name, '*/*/*'] as const);
  const expected = [['authorizer', 'authorizers/<ApiAuthorizer>'] as const, ...ofRequests].map(
    ([name, source]) => `<Functions${name.charAt(0).toUpperCase()}${name.slice(1)}Aliaslive> ${source}`,
  );

  expect(found).toHaveLength(expected.length);
  expect(found).toEqual(expect.arrayContaining(expected));
});

test('Functions time out before API Gateway does', () => {
  const functions = propertiesOf(staging, 'AWS::Lambda::Function', v.looseObject({ Timeout: v.number() }));
  const timeouts = functions.filter(([name]) => /^Functions(?!List)/.test(name)).map(([, { Timeout }]) => Timeout);

  // All but the two lists; the authorizer and the fallback beside the operations.
  expect(timeouts).toHaveLength(Object.keys(operations).length);
  expect(Math.max(...timeouts)).toBeLessThan(29);
  expect(staging['FunctionsAuthorizer']).toMatchObject({ Properties: { Timeout: 10 } });
  const integrated = v.object({ Integration: v.object({ TimeoutInMillis: v.optional(v.number(), 29_000) }) });
  for (const [, { Integration }] of propertiesOf(staging, 'AWS::ApiGateway::Method', integrated))
    expect(Integration.TimeoutInMillis).toBeGreaterThanOrEqual(29_000);
});

test('The sync runs on each CloudTrail event that changes a key, a usage plan or a tag', () => {
  const changing = Object.keys(apiGateway).flatMap((exported) => {
    const [, call = ''] = /^(?!Get)(.*(?:ApiKeys?|UsagePlan(?:Key)?|agResource))Command$/.exec(exported) ?? [];
    return call === '' ? [] : [call];
  });
  const schema = v.object({ EventPattern: v.object({ detail: v.object({ eventName: v.array(v.string()) }) }) });
  const rule = propertiesOf(staging, 'AWS::Events::Rule', v.unknown()).find(([name]) => name === 'KeySyncChanges');

  expect(v.parse(schema, rule?.[1]).EventPattern.detail.eventName.toSorted()).toEqual(changing.toSorted());
  expect(rule?.[1]).toMatchObject({ EventPattern: { source: ['aws.apigateway'] } });
  expect(staging['KeySyncSchedule']).toMatchObject({ Properties: { ScheduleExpression: 'rate(5 minutes)' } });
});

/** What the authorizer meters refused requests as, and those of keys just issued or moved. */
const metersOf = (stage: StageName): string[] => {
  const [, authorizer] = resourceOf(inventoryTemplate(stage), 'AWS::Lambda::Function', 'FunctionsAuthorizer');
  const variables = v.object({ OVERFLOW_USAGE_IDENTIFIER: v.string(), INTERIM_USAGE_IDENTIFIER: v.string() });
  const { Environment } = v.parse(v.object({ Environment: v.object({ Variables: variables }) }), authorizer.Properties);
  return Object.values(Environment.Variables);
};

test.each([
  ['ApiGateway::Resource', 'production'],
  ['ApiGateway::GatewayResponse', 'production'],
  ['ApiGateway::Method', 'production'],
  ['ApiGateway::UsagePlan', 'production'],
  ['Lambda::Permission', 'production'],
  ['Logs::MetricFilter', 'production'],
  ['Logs::QueryDefinition', 'production'],
  // On production CodeDeploy takes ten minutes for each.
  ['Lambda::Alias', 'staging'],
] as const)('Each %s of %s depends on the one before, as AWS throttles changes', (type, stage) => {
  const made = resourcesIn(inventoryTemplate(stage), `AWS::${type}`).filter(
    ([id]) => !/^(?:KeySync|StockEv)|Permissions/.test(id),
  );
  const ids = made.map(([id]) => id);
  const before = made.map(([, { DependsOn }]) => ids.filter((id) => [DependsOn].flat().includes(id)));

  expect(ids.length).toBeGreaterThan(2);
  expect(before).toEqual([[], ...ids.slice(0, -1).map((id) => [id])]);
});

test('The API is deployed after the permissions to invoke its functions', () => {
  const [[, deployment] = []] = resourcesIn(inventoryTemplate('staging'), 'AWS::ApiGateway::Deployment');
  const permissions = resourcesIn(inventoryTemplate('staging'), 'AWS::Lambda::Permission').map(([id]) => id);

  expect(deployment?.['DependsOn']).toEqual(expect.arrayContaining(permissions));
});

const throttleOf = ({ rateLimit, burstLimit }: Record<'rateLimit' | 'burstLimit', number>) => ({
  RateLimit: rateLimit,
  BurstLimit: burstLimit,
});

describe.each(stageNames)('the usage plans of %s', (stage) => {
  const { requestsPerSecond, burst } = stages[stage].throttle;
  const asWideAsStage = { Throttle: throttleOf({ rateLimit: requestsPerSecond, burstLimit: burst }) };
  const guards = Object.values(catalog).map(({ title, limits }) => {
    // Each key of Enterprise has limits of its own: no quota, and what the stage takes from all clients at once.
    if (limits === 'agreed') return [title, asWideAsStage];
    const { quotaPerDay, ...throttle } = usagePlanLimits(limits);
    return [title, { Throttle: throttleOf(throttle), Quota: { Limit: quotaPerDay, Period: 'DAY' } }];
  });

  test('admit all that the exact limits admit, except batch updates above their throttle', () => {
    const plan = v.looseObject({ UsagePlanName: v.string(), ApiStages: v.array(v.object({ Throttle: v.unknown() })) });
    const found = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlan', plan).map(
      ([name, { Throttle, Quota, ApiStages }]) => {
        const title = name.replace('UsagePlans', '');
        const batches = Object.entries(internalBatchThrottles).find(([internal]) => internal === title)?.[1];
        const batchMethod = throttleOf(batches ?? batchThrottle);
        expect(ApiStages.map((one) => one.Throttle)).toEqual([{ '/inventory/PATCH': batchMethod }]);
        return [title, { Throttle, Quota }];
      },
    );

    expect(Object.fromEntries(found)).toEqual({
      ...Object.fromEntries(guards),
      Overflow: asWideAsStage,
      Interim: {},
    });
  });

  test('have only one key per internal plan, which the authorizer names; the key grants no access', () => {
    const values = propertiesIn(inventoryTemplate(stage), 'AWS::ApiGateway::ApiKey').map(({ Value }) => String(Value));
    const planKeys = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlanKey', v.unknown());

    expect(values).toEqual(metersOf(stage));
    expect(planKeys.map(([, properties]) => properties)).toMatchObject(
      ['Overflow', 'Interim'].map((plan) => ({ KeyId: `<UsagePlans${plan}Key>`, UsagePlanId: `<UsagePlans${plan}>` })),
    );
    for (const value of values) {
      expect(value).toMatch(/^[0-9a-f]{64}$/);
      expect({ isRecordId: isIssued(value), token: parseToken(value) }).toEqual({ isRecordId: false });
    }
  });
});

test('The batch concurrency has room for the documented number of keys at their full rate', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating/limits.md'), 'utf8');
  const keys = Number(/for (\d+) keys at their full rate/.exec(page)?.[1]);
  const secondsOfBatch = 25 / 50;
  const { rateLimit, burstLimit } = batchThrottle;

  expect(stages.production.batchConcurrency).toBe(
    keys * (burstLimit + rateLimit * secondsOfBatch) + internalBatchThrottles.Overflow.burstLimit,
  );
  expect(stages.production.batchConcurrency).toBeGreaterThan(internalBatchThrottles.Interim.rateLimit * secondsOfBatch);
  // Single updates need the rest of the partition.
  expect(keys * rateLimit * 25).toBeLessThan(1_000);
});
