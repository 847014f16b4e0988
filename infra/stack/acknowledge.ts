import { type Stack, Validations } from 'aws-cdk-lib';
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
  const reason = 'X-Ray knows no resources: a right to send traces is one for all of them.';
  acknowledge(role.node.findChild('DefaultPolicy'), 'IAM5[Resource::*]', reason);
}

/** A function that the CDK brings with it. */
export function acknowledgeCdkFunction(construct: IConstruct): void {
  acknowledge(construct, 'L1', "The CDK's own function: its runtime is the one that the CDK has tested it with.");
}

/** Rules of the NIST 800-53 r5 pack that this service meets in another way, or has no use for, wherever they apply. */
const reasons: Readonly<Record<string, string>> = {
  APIGWCacheEnabledAndEncrypted:
    'Nothing is cached: every request is checked and counted, and answers with the stock as it is.',
  APIGWSSLEnabled: 'A client certificate is for a server behind the gateway. Functions are called with IAM.',
  CloudWatchLogGroupEncrypted:
    'Logs are encrypted with a key of CloudWatch: they hold no API keys and no bodies that one of our own would protect better.',
  DynamoDBInBackupPlan:
    'Every table can be restored to any second of the last 35 days; a plan is a setting (docs/operating/data.md).',
  IAMNoInlinePolicy: 'Each policy belongs to the one role of one function, is made with it, and goes with it.',
  LambdaConcurrency:
    'A reserve for one function is taken from all others. Keys, usage plans and the firewall bound what reaches a function.',
  LambdaDLQ:
    'API Gateway and SQS wait for the answer; what sync-keys fails on goes to the dead-letter queue of its queue.',
  LambdaInsideVPC:
    'They call AWS with IAM and nothing else: a VPC would add what has to be routed, and protect nothing.',
  S3BucketLoggingEnabled: 'Public files that CloudFront alone reads.',
  S3BucketReplicationEnabled: 'All that is in it can be deployed again, from the repository.',
  S3BucketVersioningEnabled: 'All that is in it can be deployed again, from the repository.',
  S3DefaultEncryptionKMS: 'What is in it is public; S3 encrypts it with a key of its own.',
};

/** Acknowledges them for a stack. cdk-nag reports what is not in the list, such as a table that cannot be restored. */
export function acknowledgeNistRules(stack: Stack): void {
  for (const [rule, reason] of Object.entries(reasons)) acknowledgeNist(stack, rule, reason);
}
