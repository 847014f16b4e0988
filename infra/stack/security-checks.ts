import { type PolicyValidationPluginReport, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';

const DISTRIBUTION = /ReferencePage\/Distribution$/;
const ROLLOUT = /Rollout\/Role\/DefaultPolicy$/;
const ALL_RESOURCES = /^IAM5\[Resource::\*\]$/;
const MANAGED = /^IAM4\[.*\/(?:AWSBackupServiceRolePolicyForBackup|AmazonAPIGatewayPushToCloudWatchLogs)\]$/;
const GATEWAY_KEYS = /^IAM5\[.*:apigateway:<AWS::Region>::\/(?:apikeys|usageplans|tags)\/\*.*\]$/;
const PAGE_FILES = /^IAM5\[Resource::(?:<ReferencePageBucket\w+\.Arn>\/\*|arn:.*:s3:::cdk-.*\/\*\.zip)\]$/;

/** The accepted findings: the rule, the path of the resource, the reason. */
const accepted: readonly (readonly [rule: RegExp, path: RegExp, reason: string])[] = [
  [/^APIG[16]$/, /^dev-.*\/DeploymentStage\.v1$/, 'It must not change the role that all APIs of the region log with.'],
  [/^APIG2$/, /Api\/RestApi$/, 'The functions validate: a gateway validator cannot name the invalid field.'],
  [/^APIG3$/, /\/DeploymentStage\.v1$/, 'Disabled by the settings: every request needs a key with exact limits.'],
  [/^COG4$/, /Api\/RestApi\/Default\//, 'Clients are programs with API keys, which our own authorizer checks.'],
  [/^CFR1$/, DISTRIBUTION, 'The reference is for API users in all countries.'],
  [/^CFR2$/, DISTRIBUTION, 'Static files without input: a firewall would have nothing to inspect.'],
  [/^CFR3$/, DISTRIBUTION, 'Public files without secrets; the API logs the relevant requests.'],
  [
    /^CFR4$/,
    DISTRIBUTION,
    'CloudFront chooses the min TLS version of its own domain; a custom domain allows to set it.',
  ],
  [/^S1$/, /ReferencePage\/Bucket$/, 'Only CloudFront reads it, and its content is public.'],
  [/^SQS3$/, /KeySync\/Queue$/, 'Every sync checks all keys, so the next one compensates for a failed one.'],
  [/^SQS3$/, /StockEvents\/Unpublished$/, 'It holds failed changes for an admin; no function reads it.'],
  [/^L1$/, /\/Custom::CDK\w+$/, "The CDK's own function, with the runtime that the CDK tests."],
  [MANAGED, /(?:Tables\/Role|CloudWatchRole)$/, "AWS's managed policy for the single purpose of this role."],
  [ALL_RESOURCES, /(?:Functions\/\w+|\/Function)Role\/DefaultPolicy$/, 'Traces have no resource-level permissions.'],
  [ALL_RESOURCES, ROLLOUT, 'CodeDeploy reads alarms by name; CloudWatch authorizes that for all or none. Read-only.'],
  [/^IAM5\[Resource::<Functions\w+\.Arn>:\*\]$/, ROLLOUT, 'CodeDeploy reads the concurrency of versions. Read-only.'],
  [GATEWAY_KEYS, /KeySync\/FunctionRole\/DefaultPolicy$/, 'Admins create keys and usage plans at any time.'],
  [PAGE_FILES, /ReferencePage\/Role\/DefaultPolicy$/, 'Names of files and archives change with every release.'],
  [/^IAM5\[Resource::arn:.*\]$/, /^PipelineAccess-\w+\/\w+Policy$/, 'AWS adds a random suffix to these names.'],
];

/** The checks of cdk-nag. The report has each accepted finding with its reason; any other one fails the synthesis. */
export class SecurityChecks extends AwsSolutionsChecks {
  override validateScope(scope: IConstruct): PolicyValidationPluginReport {
    const report = super.validateScope(scope);
    const constructs = new Map(scope.node.findAll().map((construct) => [construct.node.path, construct]));
    for (const { ruleName, violatingResources } of report.violations)
      for (const { constructPath: path = '' } of violatingResources) {
        const [rule, place] = [ruleName.replace('AwsSolutions-', ''), path.replace(/\/Resource$/, '')];
        const [, , reason] = accepted.find(([ofRule, ofPath]) => ofRule.test(rule) && ofPath.test(place)) ?? [];
        const construct = constructs.get(path);
        if (construct && reason !== undefined)
          Validations.of(construct).acknowledge({ id: `AwsSolutions::${ruleName}`, reason });
      }
    return report;
  }
}
