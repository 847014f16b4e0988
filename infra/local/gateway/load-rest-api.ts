import * as v from 'valibot';
import { arn } from '../../local-endpoint.ts';
import type { GatewayRecords } from '../control-plane/gateway-records.ts';
import { HostError, writeNotice } from '../host-error.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { matchesPattern } from '../matches-pattern.ts';
import type { Resource, ServedStack } from '../template/stack.ts';
import { GatewayError, type GatewayErrorType, GatewayResponses } from './gateway-responses.ts';
import type { GatewayHttpResponse } from './messages.ts';
import { type Method, type PermittedFunction, RestApi } from './rest-api.ts';
import { type Route, Router } from './router.ts';
import { UsageMeter } from './usage-meter.ts';

type Functions = ReadonlyMap<string, LambdaFunction>;

/** @param source the part of the source ARN after the API's id */
type FunctionOf = (uri: string, source: string, errorType: GatewayErrorType) => PermittedFunction;

const responsesSchema = v.tuple([
  v.object({ StatusCode: v.string(), ResponseParameters: v.optional(v.record(v.string(), v.string()), {}) }),
]);

/** Builds the stack's only REST API, with its only stage. */
export function loadRestApi(stack: ServedStack, functions: Functions, records: GatewayRecords): RestApi {
  const { ref: stage } = stack.only('AWS::ApiGateway::Stage');
  const { ref: apiId } = stack.only('AWS::ApiGateway::RestApi');
  const functionOf = functionsFor(apiId, stack, functions);
  const methods = stack.resources('AWS::ApiGateway::Method');
  return new RestApi({
    apiId,
    stage,
    router: new Router(
      methods.map((resource): Route<Method> => {
        const path = pathOf(resource.text('ResourceId'), stack) || '/';
        const method = resource.text('HttpMethod');
        // API Gateway names itself to Lambda by this ARN's last part.
        const source = `${stage}/${method === 'ANY' ? '*' : method}${path.replaceAll(/\{[^{}]+\}/g, '*')}`;
        return { path, method, target: methodOf(resource, source, stack, functionOf) };
      }),
    ),
    responses: new GatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse')),
    usageMeter: new UsageMeter(records, { apiId, stage }),
  });
}

function methodOf(method: Resource, source: string, stack: ServedStack, functionOf: FunctionOf): Method {
  const resourceId = method.text('ResourceId');
  const type = method.read('Integration.Type', v.picklist(['AWS_PROXY', 'MOCK']));
  if (type === 'MOCK') return { kind: 'fixed', resourceId, response: fixedResponse(method) };
  const authorizer = stack.find('AWS::ApiGateway::Authorizer', method.text('AuthorizerId'));
  const authorizerUri = authorizer.text('AuthorizerUri');
  return {
    kind: 'proxy',
    resourceId,
    authorizer: functionOf(authorizerUri, `authorizers/${authorizer.ref}`, 'AUTHORIZER_CONFIGURATION_ERROR'),
    apiKeyRequired: method.read('ApiKeyRequired', v.optional(v.boolean(), false)),
    lambda: functionOf(method.text('Integration.Uri'), source, 'API_CONFIGURATION_ERROR'),
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

/** Finds functions by the URI of an integration or an authorizer, with the API's permission to invoke them. */
function functionsFor(apiId: string, stack: ServedStack, functions: Functions): FunctionOf {
  const permissions = stack
    .resources('AWS::Lambda::Permission')
    .filter((each) => each.text('Principal') === 'apigateway.amazonaws.com')
    .map((each) => [each.text('FunctionName'), each.read('SourceArn', v.optional(v.string(), '*'))] as const);
  return (uri, source, errorType) => {
    const [, alias = ''] = /\/functions\/([^/]+)\//.exec(uri) ?? [];
    const lambda = functions.get(alias);
    if (!lambda) throw new HostError(`The local server has no function for ${uri}`);
    const sourceArn = arn('execute-api', `${apiId}/${source}`);
    const isPermitted = permissions.some(
      ([name, pattern]) =>
        [name, arn('lambda', `function:${name}`)].includes(alias) && matchesPattern(pattern, sourceArn),
    );
    if (isPermitted) return () => lambda;
    return () => {
      writeNotice(
        `No AWS::Lambda::Permission allows apigateway.amazonaws.com to invoke ${lambda.name} for ${sourceArn}`,
      );
      throw new GatewayError(errorType, 'Internal server error');
    };
  };
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
