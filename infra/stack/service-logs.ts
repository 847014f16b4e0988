import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { LogRetentionDays } from '../stages.ts';

export interface ServiceLogsProps {
  readonly logRetentionDays: LogRetentionDays;
  /** Only where AWS prescribes it. */
  readonly logGroupName?: string;
}

/** A log group of the service, which keeps its lines as long as the stage says. */
export class ServiceLogs extends LogGroup {
  constructor(scope: Construct, id: string, { logRetentionDays, logGroupName }: ServiceLogsProps) {
    super(scope, id, {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(logGroupName !== undefined && { logGroupName }),
    });
  }
}
