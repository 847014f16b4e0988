import { Stack } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnIPSet, CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type ExactLimits, planIds, plans } from '../../shared/keys/plans.ts';
import type { FirewallSettings, StageSettings } from '../stages.ts';

export interface FirewallProps extends FirewallSettings, Pick<StageSettings, 'maxEnterpriseLimits'> {
  readonly stage: Stage;
}

/** Its five minutes begin at any second: they overlap six UTC minutes, each with a full limit. */
const MINUTES_TOUCHED = 6;

/** Max requests of one customer in five minutes, by plan or by the stage's agreed limits. */
export function maxPerCustomer(maxEnterpriseLimits: ExactLimits): number {
  const limits = planIds.map((id) => plans[id].limits).filter((one) => one !== 'agreed');
  return MINUTES_TOUCHED * Math.max(...[...limits, maxEnterpriseLimits].map(({ perMinute }) => perMinute));
}

/**
 * Rules of AWS's managed common rule set in count mode. API clients are programs: some send no User-Agent. The
 * service itself rejects oversized bodies (413). `petId` allows queries above that rule's 2,048 bytes.
 */
const COUNTED_ONLY = ['NoUserAgent_HEADER', 'SizeRestrictions_BODY', 'SizeRestrictions_QUERYSTRING'];

/** Headers in which clients may send keys; only the first is used. Path and query may contain one too. */
const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie'];

/** Blocks IP addresses above any customer's limit, and known attacks. Its 403 is `WAF_FILTERED` of the gateway. */
export class Firewall extends Construct {
  /** Name of the web ACL in its metrics. */
  readonly metricName: string;

  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    const { stage, requestsWithoutKey, blockedAddresses = [] } = props;
    // Two customers at their limits may share an address.
    const { requestsPerAddress = 2 * maxPerCustomer(props.maxEnterpriseLimits) } = props;
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
        ...this.#blocked(blockedAddresses),
      ],
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stage.stageArn, webAclArn: acl.attrArn });
    this.#log(acl);
  }

  #blocked(addresses: readonly string[]): CfnWebACL.RuleProperty[] {
    if (addresses.length === 0) return [];
    const set = new CfnIPSet(this, 'BlockedIPV4', {
      scope: 'REGIONAL',
      ipAddressVersion: 'IPV4',
      addresses: [...addresses],
    });
    return [blockRule(4, 'BlockedIPV4', { ipSetReferenceStatement: { arn: set.attrArn } })];
  }

  /** Blocked requests, without the parts that may contain a key. */
  #log(acl: CfnWebACL): void {
    const stack = Stack.of(this);
    // WAF requires this prefix of log groups.
    const logGroupName = `aws-waf-logs-${stack.stackName}`;
    const logs = new LogGroup(this, 'Logs', { logGroupName });
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

/** Requests of one IP address in five minutes: all, or those that a statement matches. */
function rateRule(priority: number, name: string, limit: number, scopeDownStatement?: CfnWebACL.StatementProperty) {
  const rate = { aggregateKeyType: 'IP', evaluationWindowSec: 300, limit };
  const rateBasedStatement = { ...rate, ...(scopeDownStatement && { scopeDownStatement }) };
  return blockRule(priority, name, { rateBasedStatement });
}

const blockRule = (priority: number, name: string, statement: CfnWebACL.StatementProperty): CfnWebACL.RuleProperty => ({
  name,
  priority,
  statement,
  action: { block: {} },
  visibilityConfig: visibility(name),
});

const bearer = {
  fieldToMatch: { singleHeader: { Name: 'authorization' } },
  positionalConstraint: 'STARTS_WITH',
  searchString: 'bearer ',
  textTransformations: [{ priority: 0, type: 'LOWERCASE' }],
};
const withoutBearer = { notStatement: { statement: { byteMatchStatement: bearer } } };

/** AWS's rules. WAF rejects an empty list of overrides. */
function managedRules(priority: number, name: string, counted: readonly string[]): CfnWebACL.RuleProperty {
  const ruleActionOverrides = counted.map((rule) => ({ name: rule, actionToUse: { count: {} } }));
  const group = { vendorName: 'AWS', name, ...(counted.length > 0 && { ruleActionOverrides }) };
  const statement = { managedRuleGroupStatement: group };
  return { name, priority, statement, overrideAction: { none: {} }, visibilityConfig: visibility(name) };
}

/** Request samples are off: they would contain keys. */
function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false };
}
