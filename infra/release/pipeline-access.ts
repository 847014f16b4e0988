import { Aws, CfnCondition, CfnOutput, CfnParameter, Fn, LegacyStackSynthesizer } from 'aws-cdk-lib';
import { type IStackSynthesizer, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnOIDCProvider, FederatedPrincipal, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { stackNameOf, type StageName, stages } from '../stages.ts';

const ISSUER = 'token.actions.githubusercontent.com';
/** The audience of GitHub's tokens for AWS. */
const AUDIENCE = 'sts.amazonaws.com';

/** Tokens have these numbers if a repository was created or renamed since July 15, 2026, else only the names. */
const REPOSITORY = String.raw`[\w.-]+@\d+/[\w.-]+@\d+`;
const HOW = String.raw`gh api repos/OWNER/NAME --jq '"\(.owner.login)@\(.owner.id)/\(.name)@\(.id)"' prints it`;

/**
 * The pipeline's permissions in a stage's account, deployed by an admin: GitHub's tokens instead of stored keys, and
 * a role for deployments to that stage, by its bootstrap. Production also has a read-only one for pull requests.
 * GitHub decides which job gets which role: it signs the event type or the environment into the token.
 */
export class PipelineAccess extends Stack {
  /** With their numbers, and without. */
  readonly #repositories: readonly string[];
  readonly #providerArn: string;

  constructor(scope: Construct, id: string, stage: StageName) {
    // With the admin's own permissions, and without a bootstrap.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they differ only by exactOptionalPropertyTypes
    const synthesizer = new LegacyStackSynthesizer() as IStackSynthesizer;
    super(scope, id, { description: `Permissions of the pipeline of the pet store service on ${stage}`, synthesizer });
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
    const roleId = stage === 'staging' ? 'Staging' : 'Production';
    this.#role(roleId, `environment:${stage}`, `Deploys ${stage} and issues a key for its smoke test`, [
      ...this.#deploy(stage),
      ...this.#issueKeys(stage),
    ]);
  }

  /** An account has one provider per issuer; another stack, or an admin, may have created it. */
  #provider(): string {
    const hasProvider = new CfnParameter(this, 'HasProvider', {
      description: `Whether the account has the OIDC provider ${ISSUER} already`,
      allowedValues: ['yes', 'no'],
      default: 'no',
    });
    const expression = Fn.conditionEquals(hasProvider.valueAsString, 'no');
    const isMissing = new CfnCondition(this, 'ProviderIsMissing', { expression });
    const provider = new CfnOIDCProvider(this, 'Provider', { url: `https://${ISSUER}`, clientIdList: [AUDIENCE] });
    provider.cfnOptions.condition = isMissing;
    // Other roles that trust it keep working when this stack is deleted.
    provider.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const existing = `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:oidc-provider/${ISSUER}`;
    return Fn.conditionIf(isMissing.logicalId, provider.ref, existing).toString();
  }

  /** @param subject GitHub's claim about the job, after the repository */
  #role(id: string, subject: string, description: string, statements: PolicyStatement[]): void {
    const subjects = this.#repositories.map((repository) => `repo:${repository}:${subject}`);
    const conditions = { StringEquals: { [`${ISSUER}:aud`]: AUDIENCE, [`${ISSUER}:sub`]: subjects } };
    const assumedBy = new FederatedPrincipal(this.#providerArn, conditions, 'sts:AssumeRoleWithWebIdentity');
    const role = new Role(this, `${id}Role`, { description, assumedBy });
    new ManagedPolicy(this, `${id}Policy`, { description, roles: [role], statements });
    new CfnOutput(this, `${id}RoleArn`, { value: role.roleArn });
  }

  /** Deploys by the roles of `cdk bootstrap`, compares the deployed stack, and can stop a deployment in progress. */
  #deploy(stage: StageName): PolicyStatement[] {
    const { qualifier } = stages[stage];
    const prefix = `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role/cdk-${qualifier}`;
    const arns = ['deploy', 'file-publishing', 'lookup'].map(
      (role) => `${prefix}-${role}-role-${Aws.ACCOUNT_ID}-${Aws.REGION}`,
    );
    const reads = ['DescribeStacks', 'DescribeStackEvents', 'DescribeStackResource', 'GetTemplate'];
    const calls = [...reads, 'CancelUpdateStack'].map((call) => `cloudformation:${call}`);
    return [
      allow(['sts:AssumeRole'], arns),
      allow(calls, [this.#stacks(stage)]),
      // So that the CDK can say that the bootstrap is missing.
      allow(['ssm:GetParameter'], [this.#arn('ssm', `parameter/cdk-bootstrap/${qualifier}/version`)]),
    ];
  }

  /**
   * What `keys create` and `keys revoke` need for a key on a plan of the catalog (docs/keys.md). A condition on tags
   * would not keep other keys safe: who may tag keys, as these commands do, can add the tag to any key.
   */
  #issueKeys(stage: StageName): PolicyStatement[] {
    return [
      allow(['apigateway:GET'], ['/apikeys', '/apikeys/*', '/usageplans', '/usageplans/*', '/tags/*'].map(gateway)),
      allow(['apigateway:POST'], ['/apikeys', '/usageplans/*/keys'].map(gateway)),
      allow(['apigateway:PATCH', 'apigateway:DELETE'], [gateway('/apikeys/*')]),
      allow(['apigateway:PUT', 'apigateway:POST', 'apigateway:DELETE'], [gateway('/tags/*')]),
      // PutItem: release 1.0.0 creates keys with it, and may be deployed again.
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

/** The ARN of an API Gateway resource, which names no account. */
const gateway = (path: string): string => `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}::${path}`;

const allow = (actions: string[], resources: string[]): PolicyStatement => new PolicyStatement({ actions, resources });
