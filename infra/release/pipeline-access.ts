import {
  Aws,
  CfnCondition,
  CfnOutput,
  CfnParameter,
  Fn,
  type IStackSynthesizer,
  LegacyStackSynthesizer,
  RemovalPolicy,
  Stack,
} from 'aws-cdk-lib';
import { CfnOIDCProvider, FederatedPrincipal, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge } from '../stack/acknowledge.ts';
import { stackNameOf, type StageName, stages } from '../stages.ts';

const ISSUER = 'token.actions.githubusercontent.com';
/** What GitHub's tokens for AWS are made out to. */
const AUDIENCE = 'sts.amazonaws.com';

/** Tokens have these numbers where a repository was created or renamed since 15 July 2026, and else the names alone. */
const REPOSITORY = String.raw`[\w.-]+@\d+/[\w.-]+@\d+`;
const HOW = String.raw`gh api repos/OWNER/NAME --jq '"\(.owner.login)@\(.owner.id)/\(.name)@\(.id)"' prints it`;

/**
 * What the pipeline may do in the account of a stage, deployed by an admin: GitHub's tokens instead of stored keys, and
 * a role for the deploys to that stage, by its bootstrap. Production has one for pull requests too, which only reads.
 * Which job gets which role is for GitHub to say: it signs the kind of event or the environment into the token.
 */
export class PipelineAccess extends Stack {
  /** With their numbers, and without. */
  readonly #repositories: readonly string[];
  readonly #providerArn: string;

  constructor(scope: Construct, id: string, stage: StageName) {
    // With the admin's own rights, and without a bootstrap.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they differ only by exactOptionalPropertyTypes
    const synthesizer = new LegacyStackSynthesizer() as IStackSynthesizer;
    super(scope, id, {
      description: `What the pipeline of the pet store inventory service may do on ${stage}`,
      synthesizer,
    });
    const { valueAsString: repository } = new CfnParameter(this, 'Repository', {
      description: `OWNER@ID/NAME@ID on GitHub: ${HOW}`,
      allowedPattern: REPOSITORY,
      constraintDescription: `It must be OWNER@ID/NAME@ID: ${HOW}`,
    });
    const [owner, named] = [0, 1].map((at) => Fn.select(0, Fn.split('@', Fn.select(at, Fn.split('/', repository)))));
    this.#repositories = [repository, `${owner}/${named}`];
    this.#providerArn = this.#provider();

    if (stage === 'production')
      this.#role('PullRequest', 'pull_request', 'Reads what production was deployed from', [
        allow(['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'], [this.#stacks(stage)]),
      ]);
    this.#role(capitalized(stage), `environment:${stage}`, `Deploys ${stage} and issues a key for its smoke test`, [
      ...this.#deploy(stage),
      ...this.#issueKeys(stage),
    ]);
  }

  /** An account has one provider for an issuer; another stack, or a hand, may have made it. */
  #provider(): string {
    const hasProvider = new CfnParameter(this, 'HasProvider', {
      description: `Whether the account has the OIDC provider ${ISSUER} already`,
      allowedValues: ['yes', 'no'],
      default: 'no',
    });
    const isMissing = new CfnCondition(this, 'ProviderIsMissing', {
      expression: Fn.conditionEquals(hasProvider.valueAsString, 'no'),
    });
    const provider = new CfnOIDCProvider(this, 'Provider', { url: `https://${ISSUER}`, clientIdList: [AUDIENCE] });
    provider.cfnOptions.condition = isMissing;
    // What else trusts it goes on when this stack goes.
    provider.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const existing = `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:oidc-provider/${ISSUER}`;
    return Fn.conditionIf(isMissing.logicalId, provider.ref, existing).toString();
  }

  /** @param subject what GitHub says about the job, after the repository */
  #role(id: string, subject: string, description: string, statements: PolicyStatement[]): void {
    const subjects = this.#repositories.map((repository) => `repo:${repository}:${subject}`);
    const conditions = { StringEquals: { [`${ISSUER}:aud`]: AUDIENCE, [`${ISSUER}:sub`]: subjects } };
    const assumedBy = new FederatedPrincipal(this.#providerArn, conditions, 'sts:AssumeRoleWithWebIdentity');
    const role = new Role(this, `${id}Role`, { description, assumedBy });
    const policy = new ManagedPolicy(this, `${id}Policy`, { description, roles: [role], statements });
    acknowledgeWildcards(policy, statements);
    new CfnOutput(this, `${id}RoleArn`, { value: role.roleArn });
  }

  /**
   * The roles that `cdk bootstrap` has made in this account and region do the work. What is deployed is compared with
   * what is to be, and a roll-back stops a deploy that is under way.
   */
  #deploy(stage: StageName): PolicyStatement[] {
    const { qualifier } = stages[stage];
    const bootstrapped = ['deploy', 'file-publishing', 'lookup'].map(
      (role) => `cdk-${qualifier}-${role}-role-${Aws.ACCOUNT_ID}-${Aws.REGION}`,
    );
    const arns = bootstrapped.map((role) => `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role/${role}`);
    const calls = ['DescribeStacks', 'DescribeStackResource', 'GetTemplate', 'CancelUpdateStack'].map(
      (call) => `cloudformation:${call}`,
    );
    return [
      allow(['sts:AssumeRole'], arns),
      allow(calls, [this.#stacks(stage)]),
      allow(['ssm:GetParameter'], [this.#arn('ssm', `parameter/cdk-bootstrap/${qualifier}/version`)]),
      allow(['lambda:GetAccountSettings'], ['*']),
    ];
  }

  /** What `keys create` and `keys revoke` need for a key on a plan of the catalog (docs/keys.md). */
  #issueKeys(stage: StageName): PolicyStatement[] {
    return [
      allow(['apigateway:GET'], ['/apikeys', '/apikeys/*', '/usageplans', '/usageplans/*', '/tags/*'].map(gateway)),
      allow(['apigateway:POST'], ['/apikeys', '/usageplans/*/keys'].map(gateway)),
      allow(['apigateway:PATCH', 'apigateway:DELETE'], [gateway('/apikeys/*')]),
      allow(['apigateway:PUT', 'apigateway:POST', 'apigateway:DELETE'], [gateway('/tags/*')]),
      // PutItem: release 1.0.0 makes keys with it, and may be deployed again.
      allow(
        ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:Scan'],
        [this.#arn('dynamodb', `table/${stackNameOf(stage)}-TablesKeys*`)],
      ),
      allow(['dynamodb:PutItem'], [this.#arn('dynamodb', `table/${stackNameOf(stage)}-TablesHistory*`)]),
    ];
  }

  #stacks(stage: StageName): string {
    return this.#arn('cloudformation', `stack/${stage}-*/*`);
  }

  #arn(service: string, resource: string): string {
    return `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
  }
}

/** The ARN of something in API Gateway, which names no account. */
const gateway = (path: string): string => `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}::${path}`;

const allow = (actions: string[], resources: string[]): PolicyStatement => new PolicyStatement({ actions, resources });

const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** As cdk-nag writes what only the deploy knows. */
const PSEUDO_PARAMETERS = { [Aws.PARTITION]: 'Partition', [Aws.REGION]: 'Region', [Aws.ACCOUNT_ID]: 'AccountId' };

function acknowledgeWildcards(policy: ManagedPolicy, statements: readonly PolicyStatement[]): void {
  const reason =
    'AWS ends these names with a part of its own when it makes them; the settings of an account have none.';
  const wildcards = statements.flatMap(({ resources }) => resources).filter((resource) => resource.includes('*'));
  for (const resource of new Set(wildcards)) {
    const shown = Object.entries(PSEUDO_PARAMETERS).reduce(
      (arn, [token, name]) => arn.replaceAll(token, `<AWS::${name}>`),
      resource,
    );
    acknowledge(policy, `IAM5[Resource::${shown}]`, reason);
  }
}
