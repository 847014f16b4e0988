import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { LogRetentionDays } from '../stages.ts';

export interface ServiceLogsProps extends Pick<LogGroupProps, 'logGroupName'> {
  readonly logRetentionDays: LogRetentionDays;
}

/** A log group with the stage's retention. It has a name only if AWS prescribes one. */
export class ServiceLogs extends LogGroup {
  constructor(scope: Construct, id: string, { logRetentionDays, ...props }: ServiceLogsProps) {
    super(scope, id, { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY, ...props });
  }
}
