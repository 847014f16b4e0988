import type { GatewayRecords } from '../account/gateway-records.ts';
import { HostError } from '../host-error.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { LogGroups } from '../log-sink.ts';
import type { PropertiesOf } from '../template/resource-types.ts';
import { type ServedStack, only } from '../template/stack.ts';
import { GatewayResponses } from './gateway-responses.ts';
import type { GatewayAnswer } from './messages.ts';
import { type Method, RestApi } from './rest-api.ts';
import { Router } from './router.ts';
import { UsageMeter } from './usage-meter.ts';

/** Builds the one REST API of the stack, with its one stage. */
export function loadRestApi(
  stack: ServedStack,
  functions: ReadonlyMap<string, LambdaFunction>,
  logGroups: LogGroups,
  records: GatewayRecords,
): RestApi {
  const api = only(stack.resources('AWS::ApiGateway::RestApi'), 'REST API');
  const { properties: stage } = only(stack.resources('AWS::ApiGateway::Stage'), 'stage');
  const apiStage = { apiId: api.ref, stage: stage.StageName };
  const accessLog = stage.AccessLogSetting && {
    format: stage.AccessLogSetting.Format,
    sink: logGroups.sink(stage.AccessLogSetting.DestinationArn.split(':').at(-1) ?? ''),
  };
  return new RestApi({
    ...apiStage,
    router: loadRouter(stack, functions, stack.attribute(api.logicalId, 'RootResourceId')),
    responses: new GatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse')),
    usageMeter: new UsageMeter(records, apiStage),
    accessLog,
  });
}

function loadRouter(
  stack: ServedStack,
  functions: ReadonlyMap<string, LambdaFunction>,
  rootId: string,
): Router<Method> {
  const resource = only(stack.resources('AWS::ApiGateway::Authorizer'), 'authorizer');
  const authorizer = functionOf(resource.properties.AuthorizerUri, functions, resource.logicalId, callOf);
  const router = new Router<Method>();
  for (const { logicalId, properties } of stack.resources('AWS::ApiGateway::Method')) {
    const { ResourceId: resourceId, HttpMethod } = properties;
    const path = pathOf(resourceId, stack, rootId) || '/';
    if (properties.AuthorizationType === 'NONE') {
      router.add(path, HttpMethod, {
        kind: 'fixed',
        resourceId,
        answer: fixedAnswer(properties.Integration, logicalId),
      });
      continue;
    }
    const { AuthorizerId, ApiKeyRequired: apiKeyRequired, Integration } = properties;
    if (AuthorizerId !== resource.ref)
      throw new HostError(`Resource ${logicalId}: there is no authorizer ${AuthorizerId}`);
    const isStreamed = Integration.ResponseTransferMode === 'STREAM';
    const lambda = functionOf(Integration.Uri, functions, logicalId, isStreamed ? streamingCallOf : callOf);
    const integration = { lambda, timeoutMs: Integration.TimeoutInMillis, isStreamed };
    router.add(path, HttpMethod, { kind: 'proxy', resourceId, authorizer, apiKeyRequired, integration });
  }
  return router;
}

/** The path of a resource, from the path parts of it and its parents: `/inventory/{petId}`; empty for the root. */
function pathOf(id: string, stack: ServedStack, rootId: string): string {
  if (id === rootId) return '';
  const resource = stack.resources('AWS::ApiGateway::Resource').find(({ ref }) => ref === id);
  if (!resource) throw new HostError(`The template has no API resource ${id}`);
  return `${pathOf(resource.properties.ParentId, stack, rootId)}/${resource.properties.PathPart}`;
}

/** How the URI of an integration, or of an authorizer, ends that calls a function. */
type CallOf = (functionArn: string) => string;
const callOf: CallOf = (functionArn) => `:lambda:path/2015-03-31/functions/${functionArn}/invocations`;
const streamingCallOf: CallOf = (functionArn) =>
  `:lambda:path/2021-11-15/functions/${functionArn}/response-streaming-invocations`;

function functionOf(
  uri: string,
  functions: ReadonlyMap<string, LambdaFunction>,
  logicalId: string,
  endOf: CallOf,
): LambdaFunction {
  const [, found] = [...functions].find(([functionArn]) => uri.endsWith(endOf(functionArn))) ?? [];
  if (!found) throw new HostError(`Resource ${logicalId}: the local host knows no function behind ${uri}`);
  return found;
}

type MockIntegration = Extract<PropertiesOf<'AWS::ApiGateway::Method'>, { AuthorizationType: 'NONE' }>['Integration'];

/** The answer of a MOCK integration, which has no body and only headers that are written out. */
function fixedAnswer(
  { RequestTemplates, IntegrationResponses: [response] }: MockIntegration,
  logicalId: string,
): GatewayAnswer {
  const [, selected] = /^\{\s*"?statusCode"?:\s*(\d{3})\s*\}$/.exec(RequestTemplates['application/json'].trim()) ?? [];
  if (selected !== response.StatusCode)
    throw new HostError(`Resource ${logicalId}: the local host knows no answer of its MOCK integration`);
  const headers = Object.entries(response.ResponseParameters).map(([target, source]): [string, string] => {
    const header = /^method\.response\.header\.(.+)$/.exec(target)?.[1];
    const value = /^'([^']*)'$/.exec(source)?.[1];
    if (header !== undefined && value !== undefined) return [header, value];
    throw new HostError(`Resource ${logicalId}: the local host does not support ${target} (got ${source})`);
  });
  return { status: Number(response.StatusCode), headers, body: Buffer.alloc(0) };
}
