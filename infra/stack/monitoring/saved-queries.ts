import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { queries, type QueryLogs } from './queries.ts';
import type { MonitoredLogGroup, MonitoredLogs } from './monitored.ts';

export interface SavedQueriesProps {
  readonly logs: MonitoredLogs;
  /** Folder of the console that the queries are in. */
  readonly stackName: string;
}

/** The questions of queries.ts, ready in CloudWatch Logs Insights under "Saved queries". */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { logs, stackName }: SavedQueriesProps) {
    super(scope, id);
    const groups: Record<QueryLogs, readonly MonitoredLogGroup[]> = {
      requests: logs.requests,
      sync: [logs.sync],
      access: [logs.access],
    };
    for (const [queryId, { name, logs: kind, lines }] of Object.entries(queries)) {
      new CfnQueryDefinition(this, queryId.charAt(0).toUpperCase() + queryId.slice(1), {
        name: `${stackName}/${name}`,
        queryString: lines.join('\n| '),
        logGroupNames: groups[kind].map(({ logGroupName }) => logGroupName),
      });
    }
  }
}
