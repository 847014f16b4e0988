import { arn } from '../../local-endpoint.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { callAuthorizer } from './call-authorizer.ts';
import { ContextVariables, GatewayError, type GatewayResponses } from './gateway-responses.ts';
import { integrate, integrateStreaming } from './integration.ts';
import type { GatewayHttpResponse, GatewayRequest, StreamedResponse } from './messages.ts';
import { requestContext, requestEvent } from './proxy-event.ts';
import type { Router } from './router.ts';
import type { UsageMeter } from './usage-meter.ts';

/** The function of an integration or an authorizer. @throws GatewayError if API Gateway may not invoke it */
export type PermittedFunction = () => LambdaFunction;

/** A method with a function, as in the template. */
interface ProxyMethod {
  readonly kind: 'proxy';
  readonly resourceId: string;
  readonly authorizer: PermittedFunction;
  readonly apiKeyRequired: boolean;
  readonly lambda: PermittedFunction;
  readonly timeoutMs: number;
  readonly isStreamed: boolean;
}

/** A method of the API. A fixed one always returns the same response. */
export type Method =
  ProxyMethod | { readonly kind: 'fixed'; readonly resourceId: string; readonly response: GatewayHttpResponse };

export interface RestApiSettings {
  readonly apiId: string;
  readonly stage: string;
  readonly router: Router<Method>;
  readonly responses: GatewayResponses;
  readonly usageMeter: UsageMeter;
}

/** One stage of a REST API: passes requests through authorizer, usage plan and integration, as API Gateway does. */
export class RestApi {
  readonly #settings: RestApiSettings;

  constructor(settings: RestApiSettings) {
    this.#settings = settings;
  }

  get stage(): string {
    return this.#settings.stage;
  }

  /** @returns with the id of the key, as in the access log; undefined if no authorizer was invoked */
  async respond(request: GatewayRequest): Promise<StreamedResponse & { readonly keyId: string | undefined }> {
    const { responses } = this.#settings;
    const context = requestContext(request, this.#settings);
    const variables = new ContextVariables(context);
    const response = await this.#serve(request, context, variables).catch((error: unknown) => {
      if (error instanceof GatewayError) return responses.render(error, variables);
      throw error;
    });
    const ids = [['x-amzn-RequestId', request.id] as const, ['x-amz-apigw-id', request.id] as const];
    const keyId = variables.get('authorizer.principalId');
    return { ...response, headers: [...response.headers, ...ids], keyId };
  }

  async #serve(request: GatewayRequest, context: object, variables: ContextVariables): Promise<StreamedResponse> {
    const { apiId, stage, usageMeter, router } = this.#settings;
    if (request.bodyTooLarge) throw new GatewayError('REQUEST_TOO_LARGE', 'Request Too Long');
    const match = router.match(request.method, request.path);
    if (!match) throw new GatewayError('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token');
    const { target: method, resourcePath } = match;
    const { resourceId } = method;
    if (method.kind === 'fixed') return method.response;

    const event = requestEvent(request, match, { ...context, resourceId, resourcePath });
    const methodArn = arn('execute-api', `${apiId}/${stage}/${request.method}${request.path}`);
    const { context: authorizer, usageIdentifierKey } = await callAuthorizer(
      method.authorizer(),
      event,
      methodArn,
      variables,
    );
    if (method.apiKeyRequired) usageMeter.meter(usageIdentifierKey, request.receivedAt);
    const proxyEvent = JSON.stringify({
      ...event,
      requestContext: { ...event.requestContext, authorizer },
      // Text, as the API has no binary media types.
      body: request.body.length === 0 ? null : request.body.toString(),
      isBase64Encoded: false,
    });
    const call = method.isStreamed ? integrateStreaming : integrate;
    return call(method.lambda(), proxyEvent, method.timeoutMs);
  }
}
