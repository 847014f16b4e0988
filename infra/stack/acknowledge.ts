import { Validations } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/** Acknowledges one finding of cdk-nag's AwsSolutions pack on one construct, with the reason why it may stand. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
}

/** Acknowledges one finding of cdk-nag's NIST 800-53 r5 pack on a construct and all that is in it. */
export function acknowledgeNist(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `NIST.800.53.R5::NIST.800.53.R5-${rule}`, reason });
}

/** What a function needs to send its traces to X-Ray. */
export function acknowledgeTracing(role: Role): void {
  const reason = 'X-Ray knows no resources: whoever may send traces may send them for everything.';
  acknowledge(role.node.findChild('DefaultPolicy'), 'IAM5[Resource::*]', reason);
}
