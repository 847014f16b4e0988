import * as v from 'valibot';
import type { GatewayRecords } from '../control-plane/gateway-records.ts';
import { HostError } from '../host-error.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import type { Resource, ServedStack } from '../template/stack.ts';
import { GatewayResponses } from './gateway-responses.ts';
import type { GatewayHttpResponse } from './messages.ts';
import { type Method, RestApi } from './rest-api.ts';
import { type Route, Router } from './router.ts';
import { UsageMeter } from './usage-meter.ts';

type Functions = ReadonlyMap<string, LambdaFunction>;

const responsesSchema = v.tuple([
  v.object({ StatusCode: v.string(), ResponseParameters: v.optional(v.record(v.string(), v.string()), {}) }),
]);

/** Builds the stack's only REST API, with its only stage. */
export function loadRestApi(stack: ServedStack, functions: Functions, records: GatewayRecords): RestApi {
  const stage = stack.only('AWS::ApiGateway::Stage');
  const apiStage = { apiId: stack.only('AWS::ApiGateway::RestApi').ref, stage: stage.ref };
  const methods = stack.resources('AWS::ApiGateway::Method');
  return new RestApi({
    ...apiStage,
    router: new Router(
      methods.map((method): Route<Method> => ({
        path: pathOf(method.text('ResourceId'), stack) || '/',
        method: method.text('HttpMethod'),
        target: methodOf(method, stack, functions),
      })),
    ),
    responses: new GatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse')),
    usageMeter: new UsageMeter(records, apiStage),
  });
}

function methodOf(method: Resource, stack: ServedStack, functions: Functions): Method {
  const resourceId = method.text('ResourceId');
  const type = method.read('Integration.Type', v.picklist(['AWS_PROXY', 'MOCK']));
  if (type === 'MOCK') return { kind: 'fixed', resourceId, response: fixedResponse(method) };
  const authorizer = stack.find('AWS::ApiGateway::Authorizer', method.text('AuthorizerId'));
  // With either, AWS would not invoke it for each request. Without a TTL it caches for five minutes.
  authorizer.read('AuthorizerResultTtlInSeconds', v.literal(0));
  authorizer.refuse('IdentitySource');
  return {
    kind: 'proxy',
    resourceId,
    authorizer: functionOf(authorizer, 'AuthorizerUri', functions),
    apiKeyRequired: method.read('ApiKeyRequired', v.optional(v.boolean(), false)),
    lambda: functionOf(method, 'Integration.Uri', functions),
    timeoutMs: method.read('Integration.TimeoutInMillis', v.optional(v.number(), 29_000)),
    isStreamed: method.read('Integration.ResponseTransferMode', v.optional(v.string())) === 'STREAM',
  };
}

/** The path of a resource, from the path parts of it and its parents: `/inventory/{petId}`; empty for the root. */
function pathOf(id: string, stack: ServedStack): string {
  if (id.endsWith('-RootResourceId')) return '';
  const resource = stack.find('AWS::ApiGateway::Resource', id);
  return `${pathOf(resource.text('ParentId'), stack)}/${resource.text('PathPart')}`;
}

/** The function whose ARN is in the URI of an integration or an authorizer. */
function functionOf(resource: Resource, property: string, functions: Functions): LambdaFunction {
  const uri = resource.text(property);
  const lambda = functions.get(/\/functions\/([^/]+)\//.exec(uri)?.[1] ?? '');
  if (lambda) return lambda;
  throw new HostError(`Resource ${resource.logicalId}: the local server has no function for ${uri}`);
}

/** The response of a MOCK integration, without a body and with literal headers only. */
function fixedResponse(method: Resource): GatewayHttpResponse {
  const [{ StatusCode, ResponseParameters }] = method.read('Integration.IntegrationResponses', responsesSchema);
  const headers = Object.entries(ResponseParameters).map(([target, source]): [string, string] => {
    const header = /^method\.response\.header\.(.+)$/.exec(target)?.[1];
    const value = /^'([^']*)'$/.exec(source)?.[1];
    if (header !== undefined && value !== undefined) return [header, value];
    throw new HostError(`Resource ${method.logicalId}: the local server does not support ${target} (got ${source})`);
  });
  return { status: Number(StatusCode), headers, body: Buffer.alloc(0) };
}
