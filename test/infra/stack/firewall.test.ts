import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stages } from '../../../infra/stages.ts';
import { synthesizeStage } from '../../support/synthesize-once.ts';
import { rawResourcesOf, resourcesOf, synthesizedStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { staging, production } = synthesizedStages();
const folder = temporaryFolder();

const only = (type: string): unknown => {
  const [resource, ...others] = resourcesOf(production, type, v.unknown());
  expect(others).toEqual([]);
  return resource?.properties;
};

const rule = (name: string) =>
  v
    .parse(v.object({ Rules: v.array(v.looseObject({ Name: v.string() })) }), only('AWS::WAFv2::WebACL'))
    .Rules.find(({ Name }) => Name === name);

describe('the firewall of production', () => {
  test('is in front of the one stage of the API', () => {
    const [apiStage] = rawResourcesOf(production, 'AWS::ApiGateway::Stage');

    expect(only('AWS::WAFv2::WebACL')).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect(JSON.stringify(only('AWS::WAFv2::WebACLAssociation'))).toContain(JSON.stringify({ Ref: apiStage?.[0] }));
  });

  test('refuses an address that sends more than any customer may, and no customer', () => {
    const { firewall, mostForEnterprise } = stages.production;

    expect(rule('RequestsPerAddress')).toMatchObject({
      Statement: {
        RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: firewall?.requestsPerAddress },
      },
      Action: { Block: {} },
    });
    expect(firewall?.requestsPerAddress).toBeGreaterThanOrEqual(6 * mostForEnterprise.perMinute);
  });

  test.each(['AWSManagedRulesCommonRuleSet', 'AWSManagedRulesKnownBadInputsRuleSet'])('has the rules of %s', (name) => {
    expect(rule(name)).toMatchObject({
      Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: name } },
      OverrideAction: { None: {} },
    });
  });

  test('only counts what the service answers itself, or what programs do: large bodies, and no User-Agent', () => {
    expect(rule('AWSManagedRulesCommonRuleSet')).toMatchObject({
      Statement: {
        ManagedRuleGroupStatement: {
          RuleActionOverrides: ['NoUserAgent_HEADER', 'SizeRestrictions_BODY'].map((name) => ({
            Name: name,
            ActionToUse: { Count: {} },
          })),
        },
      },
    });
  });

  test('logs what it refuses, without what may have a key in it', () => {
    expect(only('AWS::WAFv2::LoggingConfiguration')).toMatchObject({
      RedactedFields: [
        ...['authorization', 'x-api-key', 'cookie'].map((name) => ({ SingleHeader: { Name: name } })),
        { QueryString: {} },
        { UriPath: {} },
      ],
      LoggingFilter: { DefaultBehavior: 'DROP', Filters: [{ Conditions: [{ ActionCondition: { Action: 'BLOCK' } }] }] },
      LogDestinationConfigs: [expect.anything()],
    });
    const groups = resourcesOf(
      production,
      'AWS::Logs::LogGroup',
      v.looseObject({ LogGroupName: v.optional(v.unknown()) }),
    );
    const own = groups.find(({ properties }) => properties.LogGroupName === 'aws-waf-logs-production-Inventory');
    expect(own?.properties).toMatchObject({ RetentionInDays: stages.production.logRetentionDays });
  });

  test('keeps no samples of requests, which would have keys in them', () => {
    const text = JSON.stringify(only('AWS::WAFv2::WebACL'));

    expect(text.match(/"SampledRequestsEnabled":false/g)).toHaveLength(4);
    expect(text).not.toContain('"SampledRequestsEnabled":true');
  });
});

test('Staging has none, as its settings say', () => {
  expect(stages.staging.firewall).toBeUndefined();
  expect(rawResourcesOf(staging, 'AWS::WAFv2::WebACL')).toEqual([]);
});

test('A limit for addresses below that of a customer is refused before anything is deployed', () => {
  const settings = { ...stages.production, firewall: { requestsPerAddress: 359_999 } };

  expect(() => synthesizeStage(folder, settings)).toThrow('firewall.requestsPerAddress must be 360000 at least');
});
