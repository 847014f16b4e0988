import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { pascalCase } from '../pascal-case.ts';
import { type LogKind, logGroupsOf, type Monitored } from './metrics.ts';

export interface Query {
  /** Its name in the CloudWatch console and in the runbooks. */
  readonly name: string;
  /** By default `requests`. */
  readonly logs?: LogKind;
  /** In the language of CloudWatch Logs Insights. */
  readonly query: string;
}

/** The request lines of a function's log. */
const REQUESTS = 'filter message = "Request"';

/** Lambda's log line about a failed invocation, in JSON or, before a function has started, as text. */
const FAILURES_OF_LAMBDA = '@message like /Task timed out|Runtime\\.ExitError|"status":\\s*"(error|failure|timeout)"/';

/** The saved queries for admins on call. */
export const queries = {
  slowest: {
    name: 'Slowest requests',
    query: `fields @timestamp, operation, status, latency, coldStart, keyId, requestId
| ${REQUESTS}
| sort latency desc
| limit 50`,
  },
  errors: {
    name: 'Errors and their causes',
    query: `fields @timestamp, requestId, message, error.name, error.reason, error.rootCause, record.metrics.maxMemoryUsedMB, @message, @log
| filter level = "ERROR" or ${FAILURES_OF_LAMBDA}
| sort @timestamp desc
| limit 100`,
  },
  failures: {
    name: 'Failed requests by operation',
    query: `${REQUESTS}
| filter status like /^5/
| stats count(*) as requests, latest(requestId) as latestRequestId by operation, code, bin(5m)
| sort requests desc
| limit 100`,
  },
  oneKey: {
    name: 'Requests of one key',
    query: `fields @timestamp, operation, status, code, latency, requestId
| ${REQUESTS} and keyId = "PUT-THE-KEY-ID-HERE"
| sort @timestamp desc
| limit 200`,
  },
  tokens: {
    name: 'Tokens by last use',
    query: `${REQUESTS} and ispresent(token)
| stats latest(@timestamp) as lastUse, count(*) as requests by keyId, token
| sort lastUse desc
| limit 1000`,
  },
  refusals: {
    name: 'Who is refused most, and why',
    query: `${REQUESTS} and ispresent(reason)
| stats count(*) as refusals, latest(@timestamp) as latestRefusal by keyId, plan, reason
| sort refusals desc
| limit 20`,
  },
  syncFailures: {
    name: 'Why the sync failed',
    logs: 'sync',
    query: `fields @timestamp, @message
| filter SyncProblems > 0 or level = "ERROR" or ${FAILURES_OF_LAMBDA}
| sort @timestamp desc
| limit 50`,
  },
  gatewayErrors: {
    name: 'Errors of the gateway',
    logs: 'access',
    query: `fields @timestamp, requestId, ip, method, resource, status, gatewayError, outcome, milliseconds, keyId
| filter ispresent(gatewayError) and gatewayError != "-"
| sort @timestamp desc
| limit 100`,
  },
  addresses: {
    name: 'Addresses with most requests',
    logs: 'access',
    query: `stats count(*) as requests, sum(strcontains(gatewayError, "WAF_FILTERED")) as blocked, count_distinct(keyId) as keys by ip
| sort requests desc
| limit 50`,
  },
} as const satisfies Record<string, Query>;

/** The queries in CloudWatch Logs Insights under "Saved queries", in a directory named after the stack. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, monitored: Monitored) {
    super(scope, id);
    const groups = logGroupsOf(monitored);
    for (const [queryId, { name, logs = 'requests', query }] of Object.entries<Query>(queries)) {
      new CfnQueryDefinition(this, pascalCase(queryId), {
        name: `${Stack.of(this).stackName}/${name}`,
        queryString: query,
        logGroupNames: groups[logs].map(({ logGroupName }) => logGroupName),
      });
    }
  }
}
