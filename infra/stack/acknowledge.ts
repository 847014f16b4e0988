import { Validations } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/** Acknowledges one finding of cdk-nag's AwsSolutions pack on one construct, with its reason. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
}

/** The permissions of a function for X-Ray traces. */
export function acknowledgeTracing(role: Role): void {
  const reason = 'X-Ray has no resource-level permissions for sending traces.';
  acknowledge(role.node.findChild('DefaultPolicy'), 'IAM5[Resource::*]', reason);
}

/** A function of the CDK itself. */
export function acknowledgeCdkFunction(construct: IConstruct): void {
  acknowledge(construct, 'L1', "The CDK's own function, with the runtime that the CDK tests.");
}
