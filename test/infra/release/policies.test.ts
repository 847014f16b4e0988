import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { withoutFunctions } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

/**
 * ARNs of services whose resources have no region, or no account (Service Authorization Reference, "Resource types"): IAM
 * refuses one that is otherwise, or never matches it. Dashboards alone of CloudWatch belong to no region.
 */
const without: Readonly<Record<string, readonly string[]>> = {
  apigateway: ['account'],
  cloudfront: ['region'],
  'cloudwatch:dashboard': ['region'],
  iam: ['region'],
  s3: ['region', 'account'],
};

/** What CloudFormation knows alone, such as `<TablesStock190D1C2E.Arn>`, with a path or a wildcard behind it. */
const MADE_BY_AWS = /^<[^<>]*>[\w:/*.-]*$/;

/** Whether IAM refuses the resource of a statement. */
function isRefused(resource: unknown): boolean {
  if (typeof resource !== 'string') return true;
  if (resource === '*' || MADE_BY_AWS.test(resource)) return false;
  const [arn, partition, service, region, account, ...name] = resource.replaceAll(/<[^<>]*>/g, 'x').split(':');
  const lacks = without[`${service}:${name[0]?.split('/')[0]}`] ?? without[service ?? ''] ?? [];
  if (arn !== 'arn' || !partition || name.join('') === '') return true;
  return (region === '') !== lacks.includes('region') || (account === '') !== lacks.includes('account');
}

const statementSchema = v.looseObject({ Resource: v.optional(v.unknown(), []) });
const documentSchema = v.looseObject({ Statement: v.array(statementSchema) });

/** The resources that the statements of all policies within a value name. */
function resourcesIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (v.is(documentSchema, value)) {
    return v.parse(documentSchema, value).Statement.flatMap(({ Resource }) => Resource);
  }
  return Object.values(value).flatMap(resourcesIn);
}

const templates = readdirSync(synthesizedOnce(), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.template.json') && !file.includes('asset.'),
);

test('The policies of all templates name resources as IAM wants them', () => {
  const named = templates.flatMap((file) =>
    resourcesIn(withoutFunctions(JSON.parse(readFileSync(path.join(synthesizedOnce(), file), 'utf8')))),
  );

  expect(templates).toHaveLength(7);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(isRefused)).toEqual([]);
});

test.each([
  'arn:<AWS::Partition>:iam:*:<AWS::AccountId>:role/staging-*',
  'arn:<AWS::Partition>:apigateway:<AWS::Region>:<AWS::AccountId>:/apikeys',
  'arn:<AWS::Partition>:dynamodb::<AWS::AccountId>:table/x',
  'arn:<AWS::Partition>:cloudwatch:*:<AWS::AccountId>:dashboard/x',
  'table/x',
])('IAM would refuse %s', (resource) => {
  expect(isRefused(resource)).toBe(true);
});
