import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { HttpRequest } from '@smithy/core/transport';
import * as v from 'valibot';
import { KeyRegistry } from '../../shared/key-registry/key-registry.ts';
import { grantsIn, policiesOf, propertiesOf, readableStage, withoutFunctions } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const staging = readableStage('staging');

const policies = policiesOf(staging);
const grantsOf = (role: string): string[] => grantsIn(policies, role);

/**
 * What the sync of keys calls of API Gateway, by method and path with `*` for each id: it reads all, completes a
 * creation, deletes what is revoked, and changes name, tags and usage plan.
 */
async function gatewayCallsOfSync(): Promise<string[]> {
  const registry = new KeyRegistry();
  registry.reset();
  const calls = new Set<string>();
  registry.target.gateway.middlewareStack.add(
    (next) => (args) => {
      if (HttpRequest.isInstance(args.request)) {
        const [, collection, id, members, memberId] = args.request.path.split('/');
        const parts = [collection, id && '*', members, memberId && '*'].filter((part) => part !== undefined);
        calls.add(`${args.request.method} on arn:<AWS::Partition>:apigateway:<AWS::Region>::/${parts.join('/')}`);
      }
      return next(args);
    },
    { step: 'finalizeRequest' },
  );
  const cutOff = { unappliedSince: Date.now() - 60_000 };
  const agreed = { plan: 'enterprise', perMinute: 900, perDay: 9_000 } as const;
  const created = await registry.issuedKey({ ...cutOff, ...agreed });
  registry.records.deleteApiKey(created.keyId ?? '');
  await registry.put({ ...created, keyId: undefined });
  await registry.issuedKey({ enabled: false, revoked: true });
  for (const [usagePlan, after] of [
    ['free', agreed],
    ['enterprise', {}],
  ] as const) {
    const { keyId = '' } = await registry.issuedKey({ ...cutOff, ...after, name: 'new' });
    registry.update(keyId, { planId: usagePlan, name: 'old', tags: { 'per-minute': '1' } });
  }
  const { problems } = await registry.sync();
  if (problems.length > 0) throw new Error(problems.join());
  return [...calls].map((call) => `apigateway:${call}`);
}

/** X-Ray knows no resources. */
const TRACING = ['xray:PutTraceSegments on *', 'xray:PutTelemetryRecords on *'];

const onTable = (table: string, ...calls: readonly string[]) =>
  calls.map((call) => `dynamodb:${call} on <Tables${table}.Arn>`);
const onStream = ['DescribeStream', 'GetRecords', 'GetShardIterator'];
const onQueue = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl', 'ReceiveMessage'];

/** Beside logging and tracing. Admins make keys and usage plans, so that their ids are wildcards. */
const expected: readonly [name: string, grants: readonly string[]][] = [
  [
    'KeySyncFunction',
    [
      ...onTable('Keys', 'Scan', 'GetItem', 'UpdateItem'),
      ...(await gatewayCallsOfSync()),
      ...onTable('History', 'PutItem'),
      ...onTable('Usage', 'Query', 'UpdateItem'),
      ...onQueue.map((call) => `sqs:${call} on <KeySyncQueue.Arn>`),
    ],
  ],
  [
    'StockEventsFunction',
    [
      ...onStream.map((call) => `dynamodb:${call} on <TablesStock.StreamArn>`),
      'dynamodb:ListStreams on *',
      'events:DescribeEventBus on <StockEventsBus.Arn>',
      'events:PutEvents on <StockEventsBus.Arn>',
      'sqs:SendMessage on <StockEventsUnpublished.Arn>',
    ],
  ],
];

const ofRequests = Object.keys(staging).flatMap((name) => /^(Functions\w+)Role$/.exec(name)?.[1] ?? []);

const loggingOf = (name: string) =>
  ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} on <${name}Logs.Arn>`);

describe('the role', () => {
  // That it needs each of these calls, is for the checks of new versions, in initialization.test.ts.
  test.each(ofRequests)('of %s allows only logging, tracing and calls of tables', (name) => {
    const others = grantsOf(`${name}Role`).filter((grant) => !/^dynamodb:\w+ on <Tables\w+\.Arn>$/.test(grant));

    expect(staging[name]).toMatchObject({ Properties: { Role: `<${name}Role.Arn>` } });
    expect(others.toSorted()).toEqual([...loggingOf(name), ...TRACING].toSorted());
  });

  test.each(expected)('of %s allows only logging, tracing and %j', (name, grants) => {
    expect(staging[name]).toMatchObject({ Properties: { Role: `<${name}Role.Arn>` } });
    expect(grantsOf(`${name}Role`).toSorted()).toEqual([...grants, ...loggingOf(name), ...TRACING].toSorted());
  });

  test('of the page upload allows only logging, reading CDK assets and writing to the bucket', () => {
    expect(grantsOf('ReferencePageRole').toSorted()).toEqual([
      'logs:CreateLogStream on <ReferencePageLogs.Arn>',
      'logs:PutLogEvents on <ReferencePageLogs.Arn>',
      's3:GetObject on arn:<AWS::Partition>:s3:::cdk-<qualifier>-assets-<AWS::AccountId>-<AWS::Region>/*.zip',
      's3:ListBucket on <ReferencePageBucket.Arn>',
      's3:PutObject on <ReferencePageBucket.Arn>/*',
    ]);
  });

  test('exists once per function, is assumed by Lambda only and has no managed policies', () => {
    const names = ['ReferencePage', ...ofRequests, ...expected.map(([name]) => name)].map((name) => `${name}Role`);
    const roles = Object.fromEntries(propertiesOf(staging, 'AWS::IAM::Role', v.unknown()));
    const { ApiRestApiCloudWatchRole: _, ...ofFunctions } = roles;

    expect(Object.keys(roles).toSorted()).toEqual(['ApiRestApiCloudWatchRole', ...names].toSorted());
    expect(policies.flatMap(({ Roles }) => Roles).toSorted()).toEqual(names.map((name) => `<${name}>`).toSorted());
    for (const role of Object.values(ofFunctions)) {
      const Principal = { Service: 'lambda.amazonaws.com' };
      const Statement = [{ Action: 'sts:AssumeRole', Effect: 'Allow', Principal }];
      expect(role).toEqual({ AssumeRolePolicyDocument: { Statement, Version: '2012-10-17' } });
    }
  });
});

/**
 * How ARNs of a service begin, some of which have no region or no account (Service Authorization Reference, "Resource
 * types"): IAM refuses one that is otherwise, or never matches it.
 */
const arnForms = [
  'arn:<AWS::Partition>:apigateway:<AWS::Region>:',
  'arn:<AWS::Partition>:cloudformation:<AWS::Region>:<AWS::AccountId>',
  'arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>',
  'arn:<AWS::Partition>:iam::<AWS::AccountId>',
  'arn:<AWS::Partition>:s3::',
  'arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>',
];

test('All policies name resources in the ARN form that IAM accepts', () => {
  const templates = [synthesizedOnce(), synthesizedOnce('access')].flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.template.json') && !file.includes('asset.'))
      .map((file) => join(directory, file)),
  );
  const resources = templates.flatMap((file) => {
    const template = JSON.stringify(withoutFunctions(JSON.parse(readFileSync(file, 'utf8'))));
    return template.match(/"Resource":(?:"[^"]*"|[^\]]*\])/g) ?? [];
  });
  const arns = resources.flatMap(
    (named) => named.match(/arn:(?:<[^<>]*>|[^":<>])*(?::(?:<[^<>]*>|[^":<>])*){3}/g) ?? [],
  );

  expect(templates).toHaveLength(4);
  expect(resources.length).toBeGreaterThan(100);
  // Each is one text, or a list of texts.
  expect(resources.filter((named) => named.includes('{'))).toEqual([]);
  expect(new Set(arns)).toEqual(new Set(arnForms));
});
