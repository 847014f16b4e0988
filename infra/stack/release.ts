import { CfnElement, Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Alias, CfnAlias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { ServiceFunction } from './service-function.ts';

export interface CanaryReleaseProps {
  /** The functions of the API. */
  readonly functions: readonly ServiceFunction[];
  /** Any of them rolls the release back. */
  readonly alarms: readonly Alarm[];
  /** Switch this once to the new versions without waiting or asking the alarms. All else stays, for the next release. */
  readonly atOnce: boolean;
}

/**
 * Replaces the functions of the API for one tenth of the requests at first, and for the rest after ten minutes, unless
 * an alarm goes off: then all goes back to the versions before. CloudFormation waits for it, and takes back all else
 * that the deploy has changed.
 */
export class CanaryRelease extends Construct {
  /** @throws Error without alarms: nothing would take a release back */
  constructor(scope: Construct, id: string, { functions, alarms, atOnce }: CanaryReleaseProps) {
    super(scope, id);
    if (alarms.length === 0) throw new Error("release: 'canary' needs alarms: true, or nothing takes a release back");
    const application = new LambdaApplication(this, 'Application');
    const role = this.#role(functions);
    for (const { node, alias } of functions) {
      const group = new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        alarms: [...alarms],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
        // The managed policy, which it would add, is for every function of the account.
        role: role.withoutPolicyUpdates(),
      });
      group.node.addDependency(role.node.findChild('DefaultPolicy'));
      if (atOnce) switchAtOnce(alias);
    }
  }

  #role(functions: readonly ServiceFunction[]): Role {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:UpdateAlias'],
        resources: functions.map(({ functionArn }) => functionArn),
      }),
    );
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetProvisionedConcurrencyConfig'],
        resources: functions.map(({ functionArn }) => `${functionArn}:*`),
      }),
    );
    role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
    for (const { node } of functions) {
      const id = CfnElement.isCfnElement(node.defaultChild) ? Stack.of(this).getLogicalId(node.defaultChild) : '';
      const versions = 'The versions of one function: it asks which of them it has to warm up. Reading only.';
      acknowledge(role.node.findChild('DefaultPolicy'), `IAM5[Resource::<${id}.Arn>:*]`, versions);
    }
    const reason = 'It asks for alarms by a list of names, which CloudWatch allows for all or for none. Reading only.';
    acknowledge(role.node.findChild('DefaultPolicy'), 'IAM5[Resource::*]', reason);
    return role;
  }
}

/** CloudFormation itself then moves the alias, which CodeDeploy goes on from the next time. */
function switchAtOnce({ node }: Alias): void {
  if (node.defaultChild instanceof CfnAlias) delete node.defaultChild.cfnOptions.updatePolicy;
}
