import { Aws, Duration } from 'aws-cdk-lib';
import { type Alarm, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { costSection } from './cost-section.ts';
import { healthSection } from './health-section.ts';
import { limitsSection } from './limits-section.ts';
import { type Monitored, type MonitoredLogs, MonitoringMetrics } from './metrics.ts';

export interface ServiceDashboardProps extends Monitored {
  readonly alarms: readonly Alarm[];
  readonly logs: MonitoredLogs;
  /** Memory of each function. */
  readonly memoryMegabytes: number;
}

/** Data points of all graphs, as long as no more than some hours are shown: CloudWatch takes longer ones for days. */
const PERIOD = Duration.minutes(1);

/** One page that answers: is it healthy, who is hitting limits, what does it cost? */
export class ServiceDashboard extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { alarms, logs, memoryMegabytes, ...monitored }: ServiceDashboardProps) {
    super(scope, id);
    const metrics = new MonitoringMetrics(monitored, PERIOD);
    this.dashboard = new Dashboard(this, 'Dashboard', {
      // Dashboards are the account's, not the region's.
      dashboardName: `${monitored.stackName}-${Aws.REGION}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        ...healthSection({ metrics, alarms }),
        ...limitsSection({ metrics, logs }),
        ...costSection({ metrics, logs, memoryMegabytes }),
      ],
    });
  }
}
