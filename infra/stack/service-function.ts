import { createHash } from 'node:crypto';
import { Aws, CfnElement, type Duration, Lazy, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type Alias,
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  type IFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { METRICS_NAMESPACE } from '../../shared/request-log.ts';
import type { LogRetentionDays } from '../stages.ts';
import { acknowledgeTracing } from './acknowledge.ts';
import { bundleOf } from './bundle.ts';
import { ServiceLogs } from './service-logs.ts';

/** The alias that everything calls a function by: what it points to is what a release moves. */
const LIVE = 'live';

/** With less, a cold start takes longer, and a list waits for its processor. */
const MEMORY_MEGABYTES = 1_024;

export interface ServiceFunctionProps {
  /** File in the folder `functions`, without its ending. */
  readonly entry: string;
  readonly description: string;
  readonly timeout: Duration;
  readonly logRetentionDays: LogRetentionDays;
  readonly environment?: Record<string, string>;
  /** The most that run at once; by default what the account has left. */
  readonly reservedConcurrentExecutions?: number | undefined;
  /** By default that of what requests run on. */
  readonly memorySize?: number;
  /** By default its share of the requests that X-Ray records. */
  readonly tracing?: Tracing;
}

/**
 * A Lambda function of the service: Node 24 on arm64, its bundle, its log group, a role that can only log and trace
 * there. It is called by its alias alone.
 */
export class ServiceFunction extends LambdaFunction {
  /** What everything calls. */
  readonly live: IFunction;
  /** The same, for CodeDeploy, which moves it to another version. */
  readonly alias: Alias;
  readonly logs: ServiceLogs;

  constructor(scope: Construct, id: string, serviceProps: ServiceFunctionProps) {
    const { entry, logRetentionDays, environment, reservedConcurrentExecutions, ...props } = serviceProps;
    const logs = new ServiceLogs(scope, `${id}Logs`, { logRetentionDays });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logs.grantWrite(role);
    nameAfterGrants(role.node.findChild('DefaultPolicy'));

    super(scope, id, {
      memorySize: MEMORY_MEGABYTES,
      tracing: Tracing.ACTIVE,
      ...props,
      ...(reservedConcurrentExecutions !== undefined && { reservedConcurrentExecutions }),
      environment: {
        ...environment,
        METRICS_NAMESPACE,
        STACK_NAME: Stack.of(scope).stackName,
        URL_SUFFIX: Aws.URL_SUFFIX,
      },
      code: Code.fromAsset(bundleOf(entry)),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      logGroup: logs,
      // Lambda leaves lines that are JSON as they are, metrics in them too, and writes its own only about what failed.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      role,
      // Older versions stay, for a release to go back to. The version of a release that was taken back goes: Lambda
      // publishes the same code no second time, and the release could never be tried again.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    this.logs = logs;
    this.alias = this.addAlias(LIVE);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only exactOptionalPropertyTypes sets them apart
    this.live = this.alias as IFunction;
    acknowledgeTracing(role);
  }
}

/**
 * Gives a policy another logical id whenever its grants change. CloudFormation then adds the new policy before it
 * replaces the function, and takes the old one away when the release is over: the version that serves until then, and
 * again after a rollback, keeps what it may do.
 */
function nameAfterGrants(policy: IConstruct): void {
  const resource = policy.node.defaultChild;
  if (!(policy instanceof Policy) || !CfnElement.isCfnElement(resource)) throw new Error('The role has no policy');
  const stack = Stack.of(policy);
  const id = String(stack.resolve(resource.logicalId));
  const hash = (): string =>
    createHash('md5')
      .update(JSON.stringify(stack.resolve(policy.document)))
      .digest('hex');
  resource.overrideLogicalId(Lazy.uncachedString({ produce: () => `${id}${hash()}` }));
}
