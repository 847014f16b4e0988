import { rmSync } from 'node:fs';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { bundleFunction } from './bundle.ts';

export interface ServiceFunctionProps {
  /** File in the folder `functions`, without its ending. */
  readonly entry: string;
  readonly description: string;
  readonly timeout: Duration;
  readonly environment?: Record<string, string>;
}

/** A Lambda function of the service: Node 24 on arm64, its bundle, its log group, a role that can only log there. */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, { entry, ...props }: ServiceFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);

    const bundle = bundleFunction(entry);
    super(scope, id, {
      ...props,
      code: Code.fromAsset(bundle),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      logGroup,
      role,
    });
    // The asset is a copy.
    rmSync(bundle, { recursive: true });
  }
}
