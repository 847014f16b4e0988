import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { withoutFunctions } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

/**
 * Whether the ARNs of a service name a region and an account (Service Authorization Reference, "Resource types"). IAM
 * refuses one that is otherwise, or never matches it. Of CloudWatch, dashboards belong to no region.
 */
const parts: Readonly<Record<string, { region: boolean; account: boolean }>> = {
  apigateway: { region: true, account: false },
  cloudformation: { region: true, account: true },
  cloudfront: { region: false, account: true },
  cloudwatch: { region: true, account: true },
  'cloudwatch:dashboard': { region: false, account: true },
  codedeploy: { region: true, account: true },
  dynamodb: { region: true, account: true },
  events: { region: true, account: true },
  iam: { region: false, account: true },
  lambda: { region: true, account: true },
  logs: { region: true, account: true },
  s3: { region: false, account: false },
  sns: { region: true, account: true },
  sqs: { region: true, account: true },
  wafv2: { region: true, account: true },
};

/** What CloudFormation knows alone, such as `<TablesStock190D1C2E.Arn>`, with a path or a wildcard behind it. */
const MADE_BY_AWS = /^<[^<>]*>[\w:/*.-]*$/;

/** What is wrong with the resource of a statement. */
function faultOf(resource: unknown): string | undefined {
  if (typeof resource !== 'string') return `no text: ${JSON.stringify(resource)}`;
  if (resource === '*' || MADE_BY_AWS.test(resource)) return undefined;
  const [arn, partition, service = '', region, account, ...name] = resource.replaceAll(/<[^<>]*>/g, 'x').split(':');
  const expected = parts[`${service}:${name[0]?.split('/')[0]}`] ?? parts[service];
  if (arn !== 'arn' || !partition || name.join('') === '' || !expected) return `no ARN that is known here: ${resource}`;
  if ((region !== '') !== expected.region) return `${expected.region ? 'no' : 'a'} region: ${resource}`;
  return (account !== '') === expected.account ? undefined : `${expected.account ? 'no' : 'an'} account: ${resource}`;
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

test.each(templates)('The policies of %s name resources as IAM wants them', (file) => {
  const template = withoutFunctions(JSON.parse(readFileSync(path.join(synthesizedOnce(), file), 'utf8')));

  expect(resourcesIn(template).flatMap((resource) => faultOf(resource) ?? [])).toEqual([]);
});

test('All templates were looked at, and what is wrong is found', () => {
  expect(templates).toHaveLength(7);
  expect(
    [
      'arn:<AWS::Partition>:iam:*:<AWS::AccountId>:role/staging-*',
      'arn:<AWS::Partition>:apigateway:<AWS::Region>:<AWS::AccountId>:/apikeys',
      'arn:<AWS::Partition>:dynamodb::<AWS::AccountId>:table/x',
      'arn:<AWS::Partition>:cloudwatch:*:<AWS::AccountId>:dashboard/x',
      'table/x',
    ].map((resource) => faultOf(resource)?.split(':')[0]),
  ).toEqual(['a region', 'an account', 'no region', 'a region', 'no ARN that is known here']);
});
