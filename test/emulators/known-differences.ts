/** A difference that is the emulator's own: AWS does as the local server. */
export interface KnownDifference {
  /** Emulators that have it. */
  readonly of: readonly string[];
  /** The lines of the report that it is. */
  readonly line: RegExp;
  /** What AWS does, and where that is said. */
  readonly aws: string;
  readonly source: string;
}

const apiGatewayGuide = 'https://docs.aws.amazon.com/apigateway/latest/developerguide';
const localStackTests =
  'https://github.com/localstack/localstack/blob/main/tests/aws/services/apigateway/test_apigateway_lambda.snapshot.json';
const templateReference = 'https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference';

export const knownDifferences: readonly KnownDifference[] = [
  {
    of: ['ministack'],
    line: /^refused AWS::(CloudFront::(OriginAccessControl|ResponseHeadersPolicy)|XRay::SamplingRule|Logs::QueryDefinition): Unsupported/,
    aws: 'CloudFormation has these types',
    source: `${templateReference}/aws-template-resource-type-ref.html`,
  },
  {
    of: ['ministack'],
    line: /^refused Custom::CDKBucketDeployment: .*\/opt\/awscli\/aws/,
    aws: 'Lambda extracts layers below /opt, where this one brings the AWS CLI',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html',
  },
  {
    of: ['ministack'],
    line: /^refused Custom::Trigger: Error: Worker init failed: require\(\) cannot be used on an ESM graph/,
    aws: 'Lambda loads ES modules that await at the top level; the list functions have options of their own for Node.js',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html',
  },
  {
    of: ['ministack'],
    line: /^(refused Custom::Trigger: Error: The service is temporarily unavailable|POST 404 PET_NOT_FOUND: status is 503)/,
    aws: 'DynamoDB looks at the condition of an update in a transaction before it computes its expression',
    source: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html',
  },
  {
    of: ['ministack'],
    line: /^(GET|HEAD) \d+ \w*: status is 502|^smoke test: .*: The service answered with status 502/,
    aws: 'API Gateway streams what an integration with the URI …/response-streaming-invocations answers',
    source: `${apiGatewayGuide}/response-streaming-lambda-configure.html`,
  },
  {
    of: ['ministack'],
    line: /^[A-Z]+ 401 \w*: status is 403|^smoke test: .*: the header Access-Control-Allow-Origin is missing/,
    aws: 'API Gateway returns the gateway responses of the API, ACCESS_DENIED among them',
    source: `${apiGatewayGuide}/supported-gateway-response-types.html`,
  },
  {
    of: ['ministack'],
    line: /^OPTIONS 204 : status is 200/,
    aws: 'The integration response of a mock integration gives status and headers',
    source: `${apiGatewayGuide}/how-to-mock-integration.html`,
  },
  {
    of: ['ministack'],
    line: /^(POST|TRACE) 404 ROUTE_NOT_FOUND: status is 405/,
    aws: 'Two slashes within a path are not one: measured on AWS by LocalStack, 2024-08-02 (test_lambda_aws_proxy_integration)',
    source: localStackTests,
  },
  {
    of: ['ministack'],
    line: /^PATCH 404 ROUTE_NOT_FOUND: status is 400/,
    aws: 'Not known for a slash at the end of the path of an operation: docs/operating/deploying.md asks',
    source: 'https://github.com/floci-io/floci/pull/1863',
  },
  {
    of: ['ministack'],
    line: /^GET 400 INVALID_PET_ID: status is 403/,
    aws: 'The wildcard of a policy stands for any characters, also for a line break in a path',
    source: 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html',
  },
];
