import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { AlarmTargets } from '../../stages.ts';
import { acknowledgeNist } from '../acknowledge.ts';
import { type AlarmDefinition, alarmDefinitions, type AlarmId } from './alarm-table.ts';
import { AlarmTopic } from './alarm-topic.ts';
import { type Monitored, MonitoringMetrics } from './metrics.ts';

export interface AlarmsProps extends Monitored {
  /** Who is told when an alarm goes off, and when it is over. */
  readonly targets: AlarmTargets | 'nobody';
}

/** The alarms of one deployment, each with its runbook (see alarm-table.ts), and the topic that they go to. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  /** Those that take a release back. */
  readonly rollback: readonly Alarm[];

  constructor(scope: Construct, id: string, { targets, ...monitored }: AlarmsProps) {
    super(scope, id);
    const prefix = `${monitored.stackName}-`;
    const actions = this.#targetArns(targets, prefix).map((arn) => ({ bind: () => ({ alarmActionArn: arn }) }));

    const made = alarmDefinitions.flatMap(([alarmId, definition]) => {
      const alarm = this.#alarm(`${prefix}${alarmId}`, monitored, alarmId, definition);
      return alarm ? [{ alarm, definition }] : [];
    });
    this.all = made.map(({ alarm }) => alarm);
    this.rollback = made.filter(({ definition }) => definition.rollsBack).map(({ alarm }) => alarm);
    for (const alarm of this.all) {
      alarm.addAlarmAction(...actions);
      alarm.addOkAction(...actions);
    }
  }

  /** @throws Error where nobody is named, and that is not what the settings say */
  #targetArns(targets: AlarmsProps['targets'], alarmNamePrefix: string): string[] {
    if (targets === 'nobody') {
      acknowledgeNist(this, 'CloudWatchAlarmAction', 'The settings of the stage say that nobody is to be told.');
      return [];
    }
    const { emails, topicArns, ownKey = false } = targets;
    if (emails.length + topicArns.length === 0) {
      throw new Error("alarmTargets names nobody: add an e-mail address or a topic, or say 'nobody'");
    }
    if (emails.length === 0) return [...topicArns];
    return [new AlarmTopic(this, 'Topic', { alarmNamePrefix, emails, ownKey }).topicArn, ...topicArns];
  }

  #alarm(alarmName: string, monitored: Monitored, alarmId: AlarmId, definition: AlarmDefinition): Alarm | undefined {
    const { title, severity, when, firstStep, periods = 1, breaches } = definition;
    const { periodMinutes = 5, missingData = TreatMissingData.NOT_BREACHING } = definition;
    const metrics = new MonitoringMetrics(monitored, Duration.minutes(periodMinutes));
    const found = definition.metric(metrics);
    if (!found) return undefined;
    // Where the window has no data, CloudWatch goes by older data, which may be of another hour.
    const nothing = missingData === TreatMissingData.BREACHING ? 1 : 0;
    return new Alarm(this, pascalCase(alarmId), {
      alarmName,
      alarmDescription: `${title} (${severity}): ${when}. First: ${firstStep}. Runbook: docs/runbooks.md#${alarmId}`,
      metric: metrics.formula(`FILL(found, ${nothing})`, { found }),
      ...comparison(breaches),
      evaluationPeriods: periods,
      datapointsToAlarm: periods,
      treatMissingData: missingData,
    });
  }
}

function comparison(breaches: AlarmDefinition['breaches']) {
  return 'above' in breaches
    ? { threshold: breaches.above, comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD }
    : { threshold: breaches.atLeast, comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD };
}

function pascalCase(id: string): string {
  return id.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}
