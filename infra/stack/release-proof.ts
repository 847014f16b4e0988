import { CfnElement, CfnResource, Stack } from 'aws-cdk-lib';
import { Trigger } from 'aws-cdk-lib/triggers';
import { Construct, type IConstruct } from 'constructs';
import type { LogRetentionDays } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import type { ServiceFunction } from './service-function.ts';
import { ServiceLogs } from './service-logs.ts';

export interface ReleaseProofProps {
  /** The functions of the API. */
  readonly functions: readonly ServiceFunction[];
  readonly logRetentionDays: LogRetentionDays;
}

/**
 * Proves each new version of a function before its alias gives it a request: it is invoked without a payload, for which
 * it runs its health check (shared/health-check.ts). Where that fails, the deploy fails, and CloudFormation takes it back
 * (https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.triggers-readme.html#trigger-failures).
 */
export class ReleaseProof extends Construct {
  constructor(scope: Construct, id: string, { functions, logRetentionDays }: ReleaseProofProps) {
    super(scope, id);
    for (const handler of functions) new Trigger(this, handler.node.id, { handler });
    const logs = new ServiceLogs(this, 'Logs', { logRetentionDays });
    // The CDK's own function, which invokes the others.
    const provider = Stack.of(this).node.findChild('AWSCDK.TriggerCustomResourceProviderCustomResourceProvider');
    const invoker = provider.node.findChild('Handler');
    if (invoker instanceof CfnResource) invoker.addPropertyOverride('LoggingConfig', { LogGroup: logs.logGroupName });
    acknowledgeFindings(provider, functions);
    // None gets a request before all are proven.
    for (const { alias } of functions) alias.node.defaultChild?.node.addDependency(this);
  }
}

function acknowledgeFindings(provider: IConstruct, functions: readonly ServiceFunction[]): void {
  acknowledge(provider, 'L1', "The CDK's own function: its runtime is the one that the CDK has tested it with.");
  acknowledge(
    provider,
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    "The CDK's own function gets the policy that AWS keeps for logging.",
  );
  for (const { node, stack } of functions) {
    const id = CfnElement.isCfnElement(node.defaultChild) ? stack.getLogicalId(node.defaultChild) : '';
    const versions = 'The versions of one function: it invokes the one that a release brings.';
    acknowledge(provider, `IAM5[Resource::<${id}.Arn>:*]`, versions);
  }
}
