/** What MiniStack does otherwise than AWS, as reviewed. */
interface KnownFault {
  /** Resource types that it does not create. */
  readonly types?: readonly string[];
  /** Names of checks of the smoke test that fail. */
  readonly checks?: readonly string[];
  /** What AWS does, and its source. */
  readonly aws: string;
  readonly source: string;
}

const apiGatewayGuide = 'https://docs.aws.amazon.com/apigateway/latest/developerguide';

export const knownFaults: readonly KnownFault[] = [
  {
    types: [
      'AWS::CloudFront::OriginAccessControl',
      'AWS::CloudFront::ResponseHeadersPolicy',
      'AWS::Logs::QueryDefinition',
      'AWS::XRay::SamplingRule',
    ],
    aws: 'CloudFormation has these types',
    source:
      'https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html',
  },
  {
    types: ['Custom::CDKBucketDeployment'],
    aws: 'Lambda extracts layers below /opt, where this one brings the AWS CLI',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html',
  },
  {
    types: ['Custom::S3AutoDeleteObjects'],
    aws: 'A bucket has the tags of its template, without which the function fails',
    source: 'https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html',
  },
  {
    types: ['Custom::Trigger'],
    aws: 'Lambda loads ES modules that await at the top level; the list functions have options of their own for Node.js',
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html',
  },
  {
    checks: [
      'GET /inventory lists the stock, ascending by petId',
      'limit and cursor return page after page',
      'the limit headers count down',
      'status lists only entries with that status',
      'a list is compressed if the client allows it',
      'a list is not compressed unless the client allows it',
      'GET /store/orders lists orders, marked as beta',
      'an invalid limit is refused',
      'an invalid cursor is refused',
      'an update takes effect once, only with the current ETag, and is reverted',
    ],
    aws: 'API Gateway streams what an integration with the URI …/response-streaming-invocations returns',
    source: `${apiGatewayGuide}/response-streaming-lambda-configure.html`,
  },
  {
    checks: [
      'a request without a key is denied',
      'a mistyped key is denied',
      'an error links to the page that explains it',
    ],
    aws: 'API Gateway returns the gateway responses of the API, ACCESS_DENIED among them',
    source: `${apiGatewayGuide}/supported-gateway-response-types.html`,
  },
  {
    checks: ['a CORS preflight needs no key'],
    aws: 'The integration response of a mock integration gives status and headers',
    source: `${apiGatewayGuide}/how-to-mock-integration.html`,
  },
];
