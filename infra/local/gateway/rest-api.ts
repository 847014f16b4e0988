import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { LogSink } from '../log-sink.ts';
import { arn } from '../template/account.ts';
import { RequestAuthorizer } from './authorizer.ts';
import { ContextVariables } from './context-variables.ts';
import { GatewayError } from './gateway-error.ts';
import type { GatewayResponses } from './gateway-responses.ts';
import { integrate } from './integration.ts';
import type { GatewayAnswer, GatewayRequest } from './messages.ts';
import { commonLogTime, eventBody, requestEvent, type RoutedTo } from './proxy-event.ts';
import { answerOf } from './proxy-result.ts';
import type { Router } from './router.ts';
import type { UsageMeter } from './usage-meter.ts';

/** A method of the API, as its resource in the template sets it. */
export interface Method {
  readonly resourceId: string;
  readonly authorizer: LambdaFunction;
  readonly apiKeyRequired: boolean;
  readonly integration: { readonly lambda: LambdaFunction; readonly timeoutMs: number };
}

export interface RestApiSettings {
  readonly apiId: string;
  readonly stage: string;
  readonly binaryMediaTypes: readonly string[];
  readonly router: Router<Method>;
  readonly responses: GatewayResponses;
  readonly usageMeter: UsageMeter;
  readonly accessLog: { readonly format: string; readonly sink: LogSink } | undefined;
}

/** One stage of a REST API: takes a request through authorizer, usage plan and integration, as API Gateway does. */
export class RestApi {
  readonly #settings: RestApiSettings;

  constructor(settings: RestApiSettings) {
    this.#settings = settings;
  }

  get stage(): string {
    return this.#settings.stage;
  }

  async answer(request: GatewayRequest): Promise<GatewayAnswer> {
    const variables = new ContextVariables();
    this.#setRequestVariables(request, variables);
    const answer = await this.#answer(request, variables);
    this.#log(request, answer, variables);
    return {
      ...answer,
      headers: [...answer.headers, ['x-amzn-RequestId', request.id], ['x-amz-apigw-id', request.id]],
    };
  }

  async #answer(request: GatewayRequest, variables: ContextVariables): Promise<GatewayAnswer> {
    try {
      return await this.#serve(request, variables);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.#settings.responses.render(error, variables, request.headers);
    }
  }

  async #serve(request: GatewayRequest, variables: ContextVariables): Promise<GatewayAnswer> {
    const { apiId, stage, binaryMediaTypes, router, usageMeter } = this.#settings;
    if (request.bodyTooLarge) throw new GatewayError('REQUEST_TOO_LARGE', 'Request Too Long');

    const match = router.match(request.method, request.path);
    if (!match) throw new GatewayError('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token');
    const { target: method, resourcePath, pathParameters } = match;
    const to: RoutedTo = {
      apiId,
      stage,
      resourceId: method.resourceId,
      resourcePath,
      pathParameters,
      binaryMediaTypes,
    };
    variables.set({ resourcePath, resourceId: method.resourceId });

    const event = requestEvent(request, to);
    const authorizer = new RequestAuthorizer(method.authorizer);
    const authorization = await authorizer.authorize(event, this.#methodArn(request), variables);
    if (method.apiKeyRequired) {
      const apiKeyId = usageMeter.meter(authorization.usageIdentifierKey, request.receivedAt);
      variables.set({ apiKeyId }, 'identity');
    }

    const proxyEvent = {
      ...event,
      requestContext: { ...event.requestContext, authorizer: authorization.context },
      ...eventBody(request, binaryMediaTypes),
    };
    const { lambda, timeoutMs } = method.integration;
    return answerOf(await integrate(lambda, JSON.stringify(proxyEvent), timeoutMs), request, binaryMediaTypes);
  }

  #methodArn({ method, path }: GatewayRequest): string {
    return arn('execute-api', `${this.#settings.apiId}/${this.#settings.stage}/${method}${path}`);
  }

  #setRequestVariables(request: GatewayRequest, variables: ContextVariables): void {
    const { id, method, path, protocol, receivedAt, sourceIp } = request;
    const { apiId, stage } = this.#settings;
    variables.set({
      apiId,
      stage,
      requestId: id,
      extendedRequestId: id,
      httpMethod: method,
      path: `/${stage}${path}`,
      protocol,
      requestTime: commonLogTime(receivedAt),
      requestTimeEpoch: receivedAt,
    });
    variables.set({ sourceIp }, 'identity');
  }

  #log(request: GatewayRequest, { status, body }: GatewayAnswer, variables: ContextVariables): void {
    const { accessLog } = this.#settings;
    if (!accessLog) return;
    variables.set({ status, responseLength: body.length, responseLatency: Date.now() - request.receivedAt });
    accessLog.sink(`${variables.substitute(accessLog.format, '-')}\n`);
  }
}
