import { Aws } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type StageName, stageNames, stages } from '../stages.ts';

/** The services that the stacks of a stage have something of, by what IAM calls them. CloudFormation may use no other. */
const SERVICES = [
  'apigateway',
  'budgets',
  'cloudfront',
  'cloudwatch',
  'codedeploy',
  'dynamodb',
  'events',
  'lambda',
  'logs',
  'route53',
  's3',
  'sns',
  'sqs',
  'wafv2',
  'xray',
];

/** What CloudFormation does with a role, of which each is the stage's own by its name. */
const ROLE_ACTIONS = ['*Role', '*RolePolicy', '*RolePolicies', 'UpdateAssumeRolePolicy', 'UpdateRoleDescription'];

/** Where the name of a stack begins what CloudFormation makes of it, and the qualifier what the bootstrap does. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  cloudformation: ['stack/NAME-*'],
  cloudwatch: ['alarm:NAME-*', 'dashboard/NAME-*'],
  codedeploy: ['application:NAME-*', 'deploymentgroup:NAME-*'],
  dynamodb: ['table/NAME-*'],
  events: ['rule/NAME-*'],
  iam: ['role/NAME-*', 'role/cdk-QUALIFIER-*'],
  lambda: ['function:NAME-*', 'layer:NAME-*'],
  logs: ['log-group:NAME-*', 'log-group:/aws/lambda/NAME-*'],
  s3: ['NAME-*', 'cdk-QUALIFIER-*'],
  sns: ['NAME-*'],
  sqs: ['NAME-*'],
  wafv2: ['*/webacl/NAME-*'],
};

/** What CloudFormation may do for the stacks of a stage: all of {@link SERVICES}, with roles of the stage's name. */
export function executionStatements(stage: StageName): PolicyStatement[] {
  return [
    new PolicyStatement({ actions: SERVICES.map((service) => `${service}:*`), resources: ['*'] }),
    new PolicyStatement({
      actions: ROLE_ACTIONS.map((action) => `iam:${action}`),
      resources: [arn('iam', `role/${stage}-*`)],
    }),
    new PolicyStatement({
      actions: ['iam:CreateServiceLinkedRole'],
      resources: [arn('iam', 'role/aws-service-role/*')],
    }),
    // What a template asks for: the version of the bootstrap, what other stacks export, a certificate.
    new PolicyStatement({
      actions: ['ssm:GetParameters', 'cloudformation:ListExports', 'acm:DescribeCertificate'],
      resources: ['*'],
    }),
  ];
}

/**
 * What a deploy of a stage may not do: anything to what has the name of another stage. Names do not separate stages
 * where AWS gives numbers: APIs, keys, usage plans, distributions. And the roles of a stage's functions may be
 * given any rights. Where that matters, give each stage an account.
 */
export function boundary(stage: StageName): PolicyStatement {
  const others = stageNames.filter((name) => name !== stage);
  return new PolicyStatement({ effect: Effect.DENY, actions: ['*'], resources: others.flatMap(named) });
}

const named = (stage: StageName): string[] =>
  Object.entries(NAMED).flatMap(([service, patterns]) =>
    patterns.map((pattern) =>
      arn(service, pattern.replace('NAME', stage).replace('QUALIFIER', stages[stage].qualifier)),
    ),
  );

/** In any region: the page's are in another one. IAM and dashboards have none, and buckets are known by their names alone. */
function arn(service: string, resource: string): string {
  const hasRegion = service !== 'iam' && service !== 's3' && !resource.startsWith('dashboard/');
  const account = service === 's3' ? '' : Aws.ACCOUNT_ID;
  return `arn:${Aws.PARTITION}:${service}:${hasRegion ? '*' : ''}:${account}:${resource}`;
}
