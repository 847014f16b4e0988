import { Validations } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/** Acknowledges one finding of cdk-nag's AwsSolutions pack on one construct, with the reason why it may stand. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
}

/** What a function needs to send its traces to X-Ray. */
export function acknowledgeTracing(role: Role): void {
  const reason = 'X-Ray knows no resources: a right to send traces is one for all of them.';
  acknowledge(role.node.findChild('DefaultPolicy'), 'IAM5[Resource::*]', reason);
}

/** A function that the CDK brings with it. */
export function acknowledgeCdkFunction(construct: IConstruct): void {
  acknowledge(construct, 'L1', "The CDK's own function: its runtime is the one that the CDK has tested it with.");
}
