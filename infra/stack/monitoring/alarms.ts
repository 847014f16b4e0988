import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IAlarmAction, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { AlarmRecipients, StageSettings } from '../../stages.ts';
import { pascalCase } from '../pascal-case.ts';
import { type AlarmDefinition, alarmDefinitions, conditionOf, thresholdOf } from './alarm-table.ts';
import { type Monitored, MonitoringMetrics } from './metrics.ts';

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD } = ComparisonOperator;

const NO_TARGETS = { emails: [], topicArns: [], tickets: undefined };

/** The alarms of one deployment, each with its runbook (see alarm-table.ts), and the topics that they go to. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  /** Those that roll a release back. */
  readonly rollback: readonly Alarm[];
  /** Prefix of the alarms' names. */
  readonly #prefix: string;

  constructor(scope: Construct, id: string, monitored: Monitored, alarmTargets: StageSettings['alarmTargets']) {
    super(scope, id);
    this.#prefix = `${Stack.of(this).stackName}-`;
    const { tickets, ...pages } = typeof alarmTargets === 'object' ? alarmTargets : NO_TARGETS;
    const page = this.#actions('Topic', pages);
    const actions = { page, ticket: tickets ? this.#actions('TicketTopic', tickets) : page };

    const made = alarmDefinitions.flatMap(([alarmId, definition]) => {
      const alarm = this.#alarm(alarmId, definition, monitored);
      return alarm ? [{ alarm, ...definition }] : [];
    });
    this.all = made.map(({ alarm }) => alarm);
    this.rollback = made.filter(({ rollsBack }) => rollsBack).map(({ alarm }) => alarm);
    for (const { alarm, severity } of made) {
      alarm.addAlarmAction(...actions[severity]);
      alarm.addOkAction(...actions[severity]);
    }
  }

  #actions(topicId: string, { emails, topicArns }: AlarmRecipients): IAlarmAction[] {
    const arns = emails.length === 0 ? topicArns : [this.#topic(topicId, emails).topicArn, ...topicArns];
    return arns.map((alarmActionArn) => ({ bind: () => ({ alarmActionArn }) }));
  }

  #alarm(alarmId: string, definition: AlarmDefinition, monitored: Monitored): Alarm | undefined {
    const { title, severity, firstStep, periods = 1, breaches } = definition;
    const { periodMinutes = 5, missingData = TreatMissingData.NOT_BREACHING } = definition;
    const metrics = new MonitoringMetrics(monitored, Duration.minutes(periodMinutes));
    const found = definition.metric(metrics);
    if (!found) return undefined;
    // An alarm without data in its window looks for some further back, even hours ago, and would not recover.
    const valueOfNoData = missingData === TreatMissingData.BREACHING ? 1 : 0;
    return new Alarm(this, pascalCase(alarmId), {
      alarmName: `${this.#prefix}${alarmId}`,
      alarmDescription: `${title} (${severity}): ${conditionOf(definition)}. First: ${firstStep}. Runbook: docs/runbooks.md#${alarmId}`,
      metric: metrics.formula(`FILL(found, ${valueOfNoData})`, { found }),
      threshold: thresholdOf(definition),
      comparisonOperator: 'above' in breaches ? GREATER_THAN_THRESHOLD : GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      datapointsToAlarm: periods,
      treatMissingData: missingData,
    });
  }

  /** The topic of the alarms: requires TLS, and accepts only the alarms of this deployment. */
  #topic(id: string, emails: readonly string[]): Topic {
    const topic = new Topic(this, id, { displayName: 'Pet store inventory alarms', enforceSSL: true });
    const stack = Stack.of(this);
    const alarms = { service: 'cloudwatch', resource: 'alarm', resourceName: `${this.#prefix}*` };
    const conditions = {
      StringEquals: { 'aws:SourceAccount': stack.account },
      ArnLike: { 'aws:SourceArn': stack.formatArn({ ...alarms, arnFormat: ArnFormat.COLON_RESOURCE_NAME }) },
    };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
    for (const email of emails) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}
