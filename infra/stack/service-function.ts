import { hash } from 'node:crypto';
import { Aws, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { METRICS_NAMESPACE } from '../../shared/log.ts';
import { bundleOf } from './bundle.ts';
import { endLogicalId, outdirOf } from './construct-tree.ts';

/** With less, cold starts are slower, and lists are limited by the CPU. */
const MEMORY_MEGABYTES = 1_024;

type Settings = 'description' | 'environment' | 'memorySize' | 'timeout' | 'tracing';

/** By default the memory is that of functions of requests, and traces are sampled as requests are. */
export interface ServiceFunctionProps extends Pick<lambda.FunctionOptions, Settings> {
  /** File in `functions`, without its extension. */
  readonly entry: string;
  /** Reserved concurrency; by default the unreserved concurrency of the account. */
  readonly reservedConcurrentExecutions?: number | undefined;
}

/** A Lambda function with its bundle, log group, and a role that can only log and trace. Invoke its alias only. */
export class ServiceFunction extends lambda.Function {
  /** The alias for all callers. CodeDeploy moves it to another version. */
  readonly live: lambda.Alias & lambda.IFunction;
  readonly logs: LogGroup;

  constructor(scope: Construct, id: string, serviceProps: ServiceFunctionProps) {
    const { entry, environment, reservedConcurrentExecutions, ...props } = serviceProps;
    const logs = new LogGroup(scope, `${id}Logs`);
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logs.grantWrite(role);
    nameAfterGrants(role.node.findChild('DefaultPolicy'));

    super(scope, id, {
      memorySize: MEMORY_MEGABYTES,
      tracing: lambda.Tracing.ACTIVE,
      ...props,
      ...(reservedConcurrentExecutions !== undefined && { reservedConcurrentExecutions }),
      environment: {
        ...environment,
        METRICS_NAMESPACE,
        STACK_NAME: Stack.of(scope).stackName,
        URL_SUFFIX: Aws.URL_SUFFIX,
      },
      code: lambda.Code.fromAsset(bundleOf(entry, outdirOf(scope))),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      logGroup: logs,
      // Lambda keeps JSON lines unchanged, including metrics, and adds its own lines only for failures.
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      role,
      // Keeps older versions, for rollbacks, but not the version of a release that was rolled back, as RETAIN would:
      // Lambda does not publish the same code twice, so that release could not be repeated.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    this.logs = logs;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they differ only by exactOptionalPropertyTypes
    this.live = this.addAlias('live') as lambda.Alias & lambda.IFunction;
  }
}

/**
 * Names a policy after its grants, by a hash in its logical id. If they change, CloudFormation attaches a second policy
 * before the release, and deletes the first one only after it: during the release, and after a rollback, the previous
 * version keeps its permissions.
 */
function nameAfterGrants(policy: IConstruct): void {
  if (!(policy instanceof Policy)) throw new Error('The role has no policy');
  endLogicalId(policy, () => hash('md5', JSON.stringify(Stack.of(policy).resolve(policy.document))));
}
