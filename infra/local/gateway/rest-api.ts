import type { Readable } from 'node:stream';
import * as v from 'valibot';
import { arn } from '../../local-endpoint.ts';
import type { GatewayRecords } from '../control-plane/gateway-records.ts';
import { LocalServerError, writeNotice } from '../local-server-error.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { matchesPattern } from '../iam.ts';
import type { Resource, ServedStack } from '../template/stack.ts';
import { callAuthorizer } from './call-authorizer.ts';
import {
  ContextVariables,
  GatewayError,
  type GatewayErrorType,
  type GatewayHttpResponse,
  gatewayResponses,
  mappedHeaders,
  render,
} from './gateway-responses.ts';
import { integrate, integrateStreaming } from './integration.ts';
import { type GatewayRequest, requestContext, requestEvent } from './request.ts';
import { createRouter } from './router.ts';
import { usageMeter } from './usage-meter.ts';

/** A response, possibly streamed; if its stream fails, it must not look complete. */
export type StreamedResponse = GatewayHttpResponse<Buffer | Readable>;

export type RestApi = ReturnType<typeof loadRestApi>;

/** A response of a method. */
type Respond = (
  request: GatewayRequest,
  event: ReturnType<typeof requestEvent<ReturnType<typeof requestContext>>>,
  variables: ContextVariables,
) => Promise<StreamedResponse>;

type Functions = ReadonlyMap<string, LambdaFunction>;

const responsesSchema = v.tuple([
  v.object({ StatusCode: v.string(), ResponseParameters: v.optional(v.record(v.string(), v.string()), {}) }),
]);

/** The stack's only REST API, with its only stage. */
export function loadRestApi(stack: ServedStack, functions: Functions, records: GatewayRecords) {
  const { ref: stage } = stack.only('AWS::ApiGateway::Stage');
  const { ref: apiId } = stack.only('AWS::ApiGateway::RestApi');
  const functionOf = functionsFor(apiId, stack, functions);
  const meter = usageMeter(records);
  const routes = stack.resources('AWS::ApiGateway::Method').map((resource) => {
    const resourceId = resource.text('ResourceId');
    const path = pathOf(resourceId, stack) || '/';
    const method = resource.text('HttpMethod');
    return { path, method, target: { resourceId, respond: methodOf(resource, stack, functionOf, meter) } };
  });
  const match = createRouter(routes);
  const renderError = gatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse'));
  /** The id of the key and the name of its token are undefined if no authorizer was invoked. */
  const respond = async (request: GatewayRequest) => {
    const context = requestContext(request, { apiId, stage });
    const { requestId, path } = context;
    const variables = new ContextVariables(Object.entries({ requestId, path }));
    const serve = async (): Promise<StreamedResponse> => {
      if (request.bodyTooLarge) throw new GatewayError('REQUEST_TOO_LARGE', 'Request Too Long');
      const found = match(request.method, request.path);
      if (!found) throw new GatewayError('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token');
      const { target, resourcePath } = found;
      const event = requestEvent(request, found, { ...context, resourceId: target.resourceId, resourcePath });
      return target.respond(request, event, variables);
    };
    const response = await serve().catch((error: unknown) => {
      if (error instanceof GatewayError) return renderError(error, variables);
      throw error;
    });
    const ids = ['x-amzn-RequestId', 'x-amz-apigw-id'].map((name) => [name, request.id] as const);
    const keyId = variables.get('authorizer.principalId');
    const token = variables.get('authorizer.token');
    return { ...response, headers: [...response.headers, ...ids], keyId, token };
  };
  return { stage, respond };
}

/** A method with a function, which passes a request through authorizer, usage plan and integration, or a fixed one. */
function methodOf(
  method: Resource,
  stack: ServedStack,
  functionOf: ReturnType<typeof functionsFor>,
  meter: ReturnType<typeof usageMeter>,
): Respond {
  const type = method.read('Integration.Type', v.picklist(['AWS_PROXY', 'MOCK']));
  if (type === 'MOCK') return fixedResponse(method);
  const { ref, text } = stack.find('AWS::ApiGateway::Authorizer', method.text('AuthorizerId'));
  const authorizer = functionOf(text('AuthorizerUri'), `authorizers/${ref}`, 'AUTHORIZER_CONFIGURATION_ERROR');
  const lambda = functionOf(method.text('Integration.Uri'), '*/*/*', 'API_CONFIGURATION_ERROR');
  const apiKeyRequired = method.read('ApiKeyRequired', v.optional(v.boolean(), false));
  const timeoutMs = method.read('Integration.TimeoutInMillis', v.optional(v.number(), 29_000));
  const isStreamed = method.read('Integration.ResponseTransferMode', v.optional(v.string())) === 'STREAM';
  return async (request, event, variables) => {
    const { apiId, stage } = event.requestContext;
    const methodArn = arn('execute-api', `${apiId}/${stage}/${request.method}${request.path}`);
    const { context, usageIdentifierKey } = await callAuthorizer(authorizer(), event, methodArn, variables);
    if (apiKeyRequired) meter(usageIdentifierKey, `${event.resource}/${event.httpMethod}`, request.receivedAt);
    const proxyEvent = JSON.stringify({
      ...event,
      requestContext: { ...event.requestContext, authorizer: context },
      // Text, as the API has no binary media types.
      body: request.body.length === 0 ? null : request.body.toString(),
      isBase64Encoded: false,
    });
    const call = isStreamed ? integrateStreaming : integrate;
    return call(lambda(), proxyEvent, timeoutMs);
  };
}

/** The response of a MOCK integration, without a body. */
function fixedResponse(method: Resource): Respond {
  const [{ StatusCode, ResponseParameters }] = method.read('Integration.IntegrationResponses', responsesSchema);
  const headers = mappedHeaders(method, 'method.response', ResponseParameters);
  return async (_request, _event, variables) => render({ status: Number(StatusCode), headers, body: '' }, variables);
}

/** The path of a resource, from the path parts of it and its parents: `/inventory/{petId}`; empty for the root. */
function pathOf(id: string, stack: ServedStack): string {
  if (id.endsWith('-RootResourceId')) return '';
  const resource = stack.find('AWS::ApiGateway::Resource', id);
  return `${pathOf(resource.text('ParentId'), stack)}/${resource.text('PathPart')}`;
}

/**
 * Returns a lookup of functions by the URI of an integration or an authorizer. What it returns throws a GatewayError at
 * each request if no permission allows API Gateway to invoke the function, as on AWS.
 *
 * The lookup's `source` is the part after the API's id in the ARN that the permission must match.
 */
function functionsFor(apiId: string, stack: ServedStack, functions: Functions) {
  const permissions = stack
    .resources('AWS::Lambda::Permission')
    .filter((each) => each.text('Principal') === 'apigateway.amazonaws.com')
    .map((each) => [each.text('FunctionName'), each.text('SourceArn')] as const);
  return (uri: string, source: string, errorType: GatewayErrorType): (() => LambdaFunction) => {
    const [, alias = ''] = /\/functions\/([^/]+)\//.exec(uri) ?? [];
    const lambda = functions.get(alias);
    if (!lambda) throw new LocalServerError(`The local server has no function for ${uri}`);
    const sourceArn = arn('execute-api', `${apiId}/${source}`);
    if (permissions.some(([name, pattern]) => name === alias && matchesPattern(pattern, sourceArn)))
      return () => lambda;
    return () => {
      writeNotice(
        `No AWS::Lambda::Permission allows apigateway.amazonaws.com to invoke ${lambda.name} for ${sourceArn}`,
      );
      throw new GatewayError(errorType, 'Internal server error');
    };
  };
}
