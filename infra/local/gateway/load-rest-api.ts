import type { GatewayRecords } from '../account/gateway-records.ts';
import { HostError } from '../host-error.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import type { LogGroups } from '../log-groups.ts';
import { only, type Resource, type ServedStack } from '../template/stack.ts';
import { GatewayResponses } from './gateway-responses.ts';
import type { GatewayAnswer } from './messages.ts';
import { type Method, RestApi } from './rest-api.ts';
import { type Route, Router } from './router.ts';
import { UsageMeter } from './usage-meter.ts';

type Functions = ReadonlyMap<string, LambdaFunction>;

/** Builds the one REST API of the stack, with its one stage. */
export function loadRestApi(
  stack: ServedStack,
  functions: Functions,
  logGroups: LogGroups,
  records: GatewayRecords,
): RestApi {
  const api = only(stack.resources('AWS::ApiGateway::RestApi'), 'REST API');
  const { properties: stage } = only(stack.resources('AWS::ApiGateway::Stage'), 'stage');
  const apiStage = { apiId: api.ref, stage: stage.StageName };
  const { DestinationArn, Format } = stage.AccessLogSetting ?? {};
  const logGroup = DestinationArn?.split(':').at(-1) ?? '';
  const rootId = stack.attribute(api.logicalId, 'RootResourceId');
  const methods = stack.resources('AWS::ApiGateway::Method');
  return new RestApi({
    ...apiStage,
    router: new Router(
      methods.map((method): Route<Method> => ({
        path: pathOf(method.properties.ResourceId, stack, rootId) || '/',
        method: method.properties.HttpMethod,
        target: methodOf(method, stack, functions),
      })),
    ),
    responses: new GatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse')),
    usageMeter: new UsageMeter(records, apiStage),
    accessLog: Format === undefined ? undefined : { format: Format, write: (line) => logGroups.write(logGroup, line) },
  });
}

function methodOf(method: Resource<'AWS::ApiGateway::Method'>, stack: ServedStack, functions: Functions): Method {
  const { logicalId, properties } = method;
  const { ResourceId: resourceId, AuthorizerId, ApiKeyRequired: apiKeyRequired, Integration } = properties;
  if (Integration.Type === 'MOCK') {
    const [response] = Integration.IntegrationResponses;
    return { kind: 'fixed', resourceId, answer: fixedAnswer(response, logicalId) };
  }
  const authorizer = stack.resources('AWS::ApiGateway::Authorizer').find(({ ref }) => ref === AuthorizerId);
  if (!authorizer) throw new HostError(`Resource ${logicalId}: there is no authorizer ${AuthorizerId}`);
  return {
    kind: 'proxy',
    resourceId,
    authorizer: functionOf(authorizer.properties.AuthorizerUri, functions, authorizer.logicalId),
    apiKeyRequired,
    lambda: functionOf(Integration.Uri, functions, logicalId),
    timeoutMs: Integration.TimeoutInMillis,
    isStreamed: Integration.ResponseTransferMode === 'STREAM',
  };
}

/** The path of a resource, from the path parts of it and its parents: `/inventory/{petId}`; empty for the root. */
function pathOf(id: string, stack: ServedStack, rootId: string): string {
  if (id === rootId) return '';
  const { ParentId, PathPart } = stack.find('AWS::ApiGateway::Resource', id).properties;
  return `${pathOf(ParentId, stack, rootId)}/${PathPart}`;
}

/** The function whose ARN is in the URI of an integration or an authorizer. */
function functionOf(uri: string, functions: Functions, logicalId: string): LambdaFunction {
  const lambda = functions.get(/\/functions\/([^/]+)\//.exec(uri)?.[1] ?? '');
  if (lambda) return lambda;
  throw new HostError(`Resource ${logicalId}: the local host knows no function behind ${uri}`);
}

/** The answer of a MOCK integration, which has no body and only headers that are written out. */
function fixedAnswer(
  response: { readonly StatusCode: string; readonly ResponseParameters: Readonly<Record<string, string>> },
  logicalId: string,
): GatewayAnswer {
  const headers = Object.entries(response.ResponseParameters).map(([target, source]): [string, string] => {
    const header = /^method\.response\.header\.(.+)$/.exec(target)?.[1];
    const value = /^'([^']*)'$/.exec(source)?.[1];
    if (header !== undefined && value !== undefined) return [header, value];
    throw new HostError(`Resource ${logicalId}: the local host does not support ${target} (got ${source})`);
  });
  return { status: Number(response.StatusCode), headers, body: Buffer.alloc(0) };
}
