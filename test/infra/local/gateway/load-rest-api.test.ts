import { describe, expect, test } from '@jest/globals';
import { HostError } from '../../../../infra/local/host-error.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';
import { LocalApis } from '../../../support/local-api.ts';
import { type EditableTemplate, resourceOf } from '../../../support/service-template.ts';
import { answering } from '../../../support/test-functions.ts';

const apis = new LocalApis();

const sources = { authorizer: answering(null) };

/** The resource again, under another logical id. */
function doubled(template: EditableTemplate, type: string): void {
  template.Resources.Second = resourceOf(template, type)[1];
}

/** Without the stage and all that refers to it. */
function withoutStage(template: EditableTemplate): void {
  const gone = ['Stage', 'UsagePlan', 'UsagePlanKey'].map((type) => `AWS::ApiGateway::${type}`);
  for (const [id, { Type }] of Object.entries(template.Resources)) {
    if ([...gone, 'AWS::Lambda::Permission'].includes(Type)) delete template.Resources[id];
  }
  template.Outputs = {};
}

const LAMBDA = 'arn:aws:apigateway:us-east-1:lambda:path';
const uriOf = (functionArn: string) => `${LAMBDA}/2015-03-31/functions/${functionArn}/invocations`;
const streamingUriOf = (functionArn: string) =>
  `${LAMBDA}/2021-11-15/functions/${functionArn}/response-streaming-invocations`;

/** The method that lists the stock, with another integration. */
function listWith(differences: object): (template: EditableTemplate) => void {
  return (template) => {
    const { Properties } = resourceOf(template, 'AWS::ApiGateway::Method', 'ApiRestApiinventoryGET')[1];
    Properties.Integration = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', ...differences };
  };
}

const listFunction = ({ Resources }: EditableTemplate): string => {
  const id = Object.keys(Resources).find((name) => /^FunctionsListInventory[0-9A-F]{8}$/.test(name));
  return `arn:aws:lambda:us-east-1:000000000000:function:staging-Inventory-${id}`;
};

describe('the REST API of the template', () => {
  test('is served below its stage', () => {
    expect(apis.start(sources).restApi.stage).toBe('v1');
  });

  test('may have another stage', () => {
    const { restApi } = apis.start(sources, (template) => {
      resourceOf(template, 'AWS::ApiGateway::Stage')[1].Properties.StageName = 'v2';
    });

    expect(restApi.stage).toBe('v2');
  });

  test.each([
    ['streams', (functionArn: string) => ({ ResponseTransferMode: 'STREAM', Uri: streamingUriOf(functionArn) })],
    ['does not', (functionArn: string) => ({ ResponseTransferMode: 'BUFFERED', Uri: uriOf(functionArn) })],
  ])('may have a method that %s', (_, integration) => {
    const start = () => apis.start(sources, (template) => listWith(integration(listFunction(template)))(template));

    expect(start).not.toThrow();
  });

  test('may go without an access log', async () => {
    const { restApi } = apis.start(sources, (template) => {
      delete resourceOf(template, 'AWS::ApiGateway::Stage')[1].Properties.AccessLogSetting;
    });

    await expect(restApi.answer(aGatewayRequest())).resolves.toMatchObject({ status: 503 });
  });
});

describe('a template that the local gateway cannot serve', () => {
  const cases: readonly [string, (template: EditableTemplate) => void, RegExp][] = [
    ['two stages', (template) => doubled(template, 'AWS::ApiGateway::Stage'), /exactly one stage; this one has 2/],
    ['no stage', withoutStage, /does not know Ref "ApiRestApiDeploymentStage/],
    [
      'two REST APIs',
      (template) => doubled(template, 'AWS::ApiGateway::RestApi'),
      /exactly one REST API; this one has 2/,
    ],
    [
      'an authorizer of another stack',
      (template) => {
        resourceOf(template, 'AWS::ApiGateway::Method')[1].Properties.AuthorizerId = 'another';
      },
      /^Resource ApiRestApi\w+: there is no authorizer another$/,
    ],
    [
      'a function of another stack behind a method',
      (template) => {
        const { Properties } = resourceOf(template, 'AWS::ApiGateway::Method')[1];
        Properties.Integration = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: uriOf('arn:another') };
      },
      /^Resource ApiRestApi\w+: .* no function behind .*arn:another/,
    ],
    [
      'a function of another stack as authorizer',
      (template) => {
        resourceOf(template, 'AWS::ApiGateway::Authorizer')[1].Properties.AuthorizerUri = uriOf('arn:another');
      },
      /^Resource ApiAuthorizer\w+: .* no function behind .*arn:another/,
    ],
    [
      'an integration with something else',
      (template) => {
        const { Properties } = resourceOf(template, 'AWS::ApiGateway::Method')[1];
        Properties.Integration = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: 'https://example.com' };
      },
      /no function behind https:\/\/example\.com$/,
    ],
    [
      'a stream of a function that is called for its result',
      (template) => listWith({ ResponseTransferMode: 'STREAM', Uri: uriOf(listFunction(template)) })(template),
      /^Resource ApiRestApi\w+: .* no function behind .*\/2015-03-31\/.*\/invocations$/,
    ],
    [
      'a result of a function that is called for its stream',
      (template) => listWith({ Uri: streamingUriOf(listFunction(template)) })(template),
      /^Resource ApiRestApi\w+: .* no function behind .*\/2021-11-15\/.*\/response-streaming-invocations$/,
    ],
    [
      'a stream of a function of another stack',
      listWith({ ResponseTransferMode: 'STREAM', Uri: streamingUriOf('arn:another') }),
      /^Resource ApiRestApi\w+: .* no function behind .*arn:another/,
    ],
    [
      'a fixed answer with a header that is computed',
      (template) => {
        const { Properties } = resourceOf(template, 'AWS::ApiGateway::Method', 'ApiRestApiinventoryOPTIONS')[1];
        Properties.Integration = {
          Type: 'MOCK',
          RequestTemplates: { 'application/json': '{"statusCode":204}' },
          IntegrationResponses: [
            { StatusCode: '204', ResponseParameters: { 'method.response.header.X-Id': 'context.requestId' } },
          ],
        };
      },
      /^Resource ApiRestApi\w+: .* method\.response\.header\.X-Id \(got context\.requestId\)$/,
    ],
    [
      'a method of a resource of another stack',
      (template) => {
        resourceOf(template, 'AWS::ApiGateway::Method')[1].Properties.ResourceId = 'another';
      },
      /no API resource another$/,
    ],
    [
      'a resource below one of another stack',
      (template) => {
        resourceOf(template, 'AWS::ApiGateway::Resource')[1].Properties.ParentId = 'another';
      },
      /no API resource another$/,
    ],
  ];

  test.each(cases)('stops the local host: %s', (_, change, message) => {
    const start = () => apis.start(sources, change);

    expect(start).toThrow(HostError);
    expect(start).toThrow(message);
  });
});
