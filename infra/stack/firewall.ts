import { Stack } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { Limits } from '../../shared/keys/plans.ts';
import type { FirewallSettings, LogRetentionDays } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import { maxPerCustomer } from './check-settings.ts';
import { ServiceLogs } from './service-logs.ts';

export interface FirewallProps extends FirewallSettings {
  readonly stage: Stage;
  readonly logRetentionDays: LogRetentionDays;
  /** What the largest Enterprise customer may send. */
  readonly maxEnterpriseLimits: Limits;
}

/** Customers at their limits that may share an address, unless the stage says otherwise. */
const CUSTOMERS_OF_ADDRESS = 2;

/**
 * Rules of the AWS managed common rule set that only count. API clients are programs: some send no User-Agent. The
 * service itself refuses a body that is too large (413). `petId` takes queries above that rule's 2,048 bytes.
 */
const COUNTED_ONLY = ['NoUserAgent_HEADER', 'SizeRestrictions_BODY', 'SizeRestrictions_QUERYSTRING'];

/** Where clients put keys, though only the first is looked at. The path and the query may hold one too. */
const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie'];

/**
 * The firewall in front of the API: it refuses addresses that send more than any customer may, and what AWS knows for
 * an attack. API Gateway answers for it (WAF_FILTERED in gateway-responses.ts).
 */
export class Firewall extends Construct {
  /** Name of the web ACL in its metrics. */
  readonly metricName: string;

  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    const { stage, logRetentionDays, maxEnterpriseLimits, requestsWithoutKey } = props;
    const { requestsPerAddress = CUSTOMERS_OF_ADDRESS * maxPerCustomer(maxEnterpriseLimits) } = props;
    this.metricName = `${Stack.of(this).stackName}-Firewall`;
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(this.metricName),
      rules: [
        rateRule(0, 'RequestsPerAddress', requestsPerAddress),
        managedRules(1, 'AWSManagedRulesCommonRuleSet', COUNTED_ONLY),
        managedRules(2, 'AWSManagedRulesKnownBadInputsRuleSet', []),
        rateRule(3, 'RequestsWithoutKey', requestsWithoutKey, withoutBearer),
      ],
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stage.stageArn, webAclArn: acl.attrArn });
    this.#log(acl, logRetentionDays);
  }

  /** What was refused, without what may have a key in it. */
  #log(acl: CfnWebACL, logRetentionDays: LogRetentionDays): void {
    const stack = Stack.of(this);
    // WAF writes to groups with this prefix only.
    const logGroupName = `aws-waf-logs-${stack.stackName}`;
    const logs = new ServiceLogs(this, 'Logs', { logRetentionDays, logGroupName });
    const blocked = { Requirement: 'MEETS_ANY', Conditions: [{ ActionCondition: { Action: 'BLOCK' } }] };
    const secrets = SECRET_HEADERS.map((Name) => ({ singleHeader: { Name } }));
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: acl.attrArn,
      logDestinationConfigs: [stack.formatArn({ service: 'logs', resource: `log-group:${logs.logGroupName}` })],
      redactedFields: [...secrets, { queryString: {} }, { uriPath: {} }],
      loggingFilter: { DefaultBehavior: 'DROP', Filters: [{ Behavior: 'KEEP', ...blocked }] },
    });
  }
}

/** Requests of one address in five minutes: all, or those of a statement. */
function rateRule(
  priority: number,
  name: string,
  limit: number,
  scopeDownStatement?: CfnWebACL.StatementProperty,
): CfnWebACL.RuleProperty {
  const rate = { aggregateKeyType: 'IP', limit, evaluationWindowSec: 300 };
  return {
    name,
    priority,
    statement: { rateBasedStatement: { ...rate, ...(scopeDownStatement && { scopeDownStatement }) } },
    action: { block: {} },
    visibilityConfig: visibility(name),
  };
}

const withoutBearer: CfnWebACL.StatementProperty = {
  notStatement: {
    statement: {
      byteMatchStatement: {
        fieldToMatch: { singleHeader: { Name: 'authorization' } },
        positionalConstraint: 'STARTS_WITH',
        searchString: 'bearer ',
        textTransformations: [{ priority: 0, type: 'LOWERCASE' }],
      },
    },
  },
};

function managedRules(priority: number, name: string, counted: readonly string[]): CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        // WAF has refused an empty list.
        ...(counted.length > 0 && {
          ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
        }),
      },
    },
    overrideAction: { none: {} },
    visibilityConfig: visibility(name),
  };
}

/** No samples of requests are kept: they would have the keys in them. */
function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false };
}

/** For a stage that is set to have none. */
export function acknowledgeNoFirewall(stage: Stage): void {
  acknowledge(stage, 'APIG3', 'None by its settings: every request needs an API key, whose limits hold exactly.');
}
