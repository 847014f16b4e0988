import { CfnResource, Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Trigger } from 'aws-cdk-lib/triggers';
import { Construct } from 'constructs';
import { endLogicalId, inSequence, resourceOf } from './construct-tree.ts';
import type { StageSettings } from '../stages.ts';
import { share } from './monitoring/alarm-table.ts';
import { type Monitored, MonitoringMetrics } from './monitoring/metrics.ts';
import type { ServiceFunction } from './service-function.ts';

export interface CanaryRolloutProps {
  readonly functions: readonly ServiceFunction[];
  /** Each of these alarms rolls the release back. */
  readonly alarms: readonly Alarm[];
  readonly monitored: Monitored;
  /** Shift all traffic immediately in this deploy, without alarms. CodeDeploy stays configured for the next rollout. */
  readonly allAtOnce: boolean;
}

/** A canary that always fails affects 10% of an operation's few requests. One failure may be the old version's. */
const FEW_FAILED = { percent: 0.05, atLeast: 2 };

/**
 * Shifts 10% of the traffic to the new versions, and the rest after ten minutes. If an alarm fires, all
 * aliases roll back to the previous versions, and CloudFormation rolls back the rest of the deploy.
 */
export class CanaryRollout extends Construct {
  constructor(scope: Construct, id: string, { functions, alarms, monitored, allAtOnce }: CanaryRolloutProps) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    const rolledBackBy = [...alarms, this.#fewErrors(new MonitoringMetrics(monitored, Duration.minutes(5)))];
    const role = this.#role(functions);
    for (const { node, live: alias } of functions) {
      const group = new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        alarms: rolledBackBy,
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
        // The default, a managed policy, covers every function in the account.
        role: role.withoutPolicyUpdates(),
      });
      group.node.addDependency(role.node.findChild('DefaultPolicy'));
      // allAtOnce: CloudFormation moves the alias; the next deploy uses CodeDeploy again.
      if (allAtOnce) delete resourceOf(alias).cfnOptions.updatePolicy;
    }
  }

  /**
   * Has no recipients: it only affects releases. Requests that Lambda or DynamoDB throttles, and updates that met
   * others, are not the release's failures. Truncated lists return 200, so they do not count.
   */
  #fewErrors(metrics: MonitoringMetrics): Alarm {
    const throttled = [metrics.accountFunctions('Throttles'), metrics.requests('ThrottledRequests')];
    const failed = metrics.difference(metrics.gateway('5XXError'), ...throttled);
    const percent = metrics.formula(share('failed', 'requests', FEW_FAILED.atLeast), {
      failed,
      requests: metrics.gateway('Count'),
    });
    return new Alarm(this, 'FewErrors', {
      alarmDescription: `At least ${FEW_FAILED.atLeast} requests, and more than ${FEW_FAILED.percent} %, failed in 5 minutes, without throttled ones. Rolls a canary back, and has no other effect.`,
      // As in alarms.ts: missing data counts as 0.
      metric: metrics.formula('FILL(percent, 0)', { percent }),
      threshold: FEW_FAILED.percent,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  #role(functions: readonly ServiceFunction[]): Role {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    const arns = functions.map(({ functionArn }) => functionArn);
    const grants = {
      'lambda:GetAlias': arns,
      'lambda:UpdateAlias': arns,
      'lambda:GetProvisionedConcurrencyConfig': arns.map((arn) => `${arn}:*`),
      'cloudwatch:DescribeAlarms': ['*'],
    };
    for (const [action, resources] of Object.entries(grants)) {
      role.addToPolicy(new PolicyStatement({ actions: [action], resources }));
    }
    return role;
  }
}

type VersionCheckProps = Pick<CanaryRolloutProps, 'functions' | 'allAtOnce'> & Pick<StageSettings, 'rollout'>;

/**
 * Checks each new version of a function before it receives traffic: an invocation without a payload
 * runs all its probes (shared/http/probe.ts). If one fails, the deploy fails, and CloudFormation rolls back
 * (https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.triggers-readme.html#trigger-failures).
 * A rollback may fix the cause of a failed check, so it has none, and keeps their log.
 */
export class VersionCheck extends Construct {
  constructor(scope: Construct, id: string, { functions, rollout, allAtOnce }: VersionCheckProps) {
    super(scope, id);
    // Lambda allows 15 calls per second that change functions. The aliases of a canary take ten minutes each.
    inSequence(functions.map(resourceOf));
    const aliases = functions.map(({ live }) => resourceOf(live));
    if (rollout !== 'canary' || allAtOnce) inSequence(aliases);
    const triggers = (allAtOnce ? [] : functions).map((handler) => {
      const trigger = new Trigger(this, handler.node.id, { handler });
      nameAfterVersion(trigger, handler);
      return trigger;
    });
    // A new account has ten concurrent executions.
    inSequence(triggers);
    const logs = new LogGroup(this, 'Logs');
    // The CDK's function that invokes the versions.
    const provider = Stack.of(this).node.tryFindChild('AWSCDK.TriggerCustomResourceProviderCustomResourceProvider');
    const invoker = provider?.node.findChild('Handler');
    if (invoker instanceof CfnResource) invoker.addPropertyOverride('LoggingConfig', { LogGroup: logs.logGroupName });
    // No version receives traffic before all have passed.
    for (const alias of aliases) alias.node.addDependency(this);
  }
}

/**
 * Names a check after the version that it invokes. A deployment then creates a check, which invokes the new version.
 * A rollback deletes that check and keeps the previous one. Neither invokes anything, so a rollback cannot fail here.
 */
function nameAfterVersion(trigger: Trigger, { currentVersion, stack }: ServiceFunction): void {
  // The CDK ends a version's logical id with an MD5 of the function, in 32 digits, when the app is synthesized.
  const md5 = (): string => String(stack.resolve(resourceOf(currentVersion).logicalId)).slice(-32);
  endLogicalId(trigger.node.findChild('Default'), md5);
}
