import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { LogSink } from '../log-sink.ts';
import { arn } from '../../local-endpoint.ts';
import { authorize } from './authorizer.ts';
import { ContextVariables, GatewayError, type GatewayResponses } from './gateway-responses.ts';
import { integrate, integrateStreaming } from './integration.ts';
import { type GatewayAnswer, type GatewayRequest, type StreamedAnswer } from './messages.ts';
import { eventBody, requestContext, requestEvent } from './proxy-event.ts';
import type { Router } from './router.ts';
import type { UsageMeter } from './usage-meter.ts';

/** A method whose requests go to a function, as its resource in the template sets it. */
interface ProxyMethod {
  readonly kind: 'proxy';
  readonly resourceId: string;
  readonly authorizer: LambdaFunction;
  readonly apiKeyRequired: boolean;
  readonly integration: { readonly lambda: LambdaFunction; readonly timeoutMs: number; readonly isStreamed: boolean };
}

/** A method that gives everybody the same answer. */
interface FixedMethod {
  readonly kind: 'fixed';
  readonly resourceId: string;
  readonly answer: GatewayAnswer;
}

/** A method of the API. */
export type Method = ProxyMethod | FixedMethod;

export interface RestApiSettings {
  readonly apiId: string;
  readonly stage: string;
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

  async answer(request: GatewayRequest): Promise<StreamedAnswer> {
    const context = requestContext(request, this.#settings);
    const variables = new ContextVariables();
    variables.set(context);
    variables.set(context.identity, 'identity');
    const answer = await this.#serve(request, context, variables).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      return this.#settings.responses.render(error, variables);
    });
    this.#log(answer.status, variables);
    return {
      ...answer,
      headers: [...answer.headers, ['x-amzn-RequestId', request.id], ['x-amz-apigw-id', request.id]],
    };
  }

  async #serve(request: GatewayRequest, context: object, variables: ContextVariables): Promise<StreamedAnswer> {
    if (request.bodyTooLarge) throw new GatewayError('REQUEST_TOO_LARGE', 'Request Too Long');
    const match = this.#settings.router.match(request.method, request.path);
    if (!match) throw new GatewayError('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token');
    const { target: method, resourcePath } = match;
    const { resourceId } = method;
    variables.set({ resourcePath, resourceId });
    if (method.kind === 'fixed') return method.answer;
    const event = requestEvent(request, match, { ...context, resourceId, resourcePath });
    return this.#invoke(method, request, event, variables);
  }

  async #invoke(
    { authorizer, apiKeyRequired, integration }: ProxyMethod,
    request: GatewayRequest,
    event: ReturnType<typeof requestEvent>,
    variables: ContextVariables,
  ): Promise<StreamedAnswer> {
    const { apiId, stage, usageMeter } = this.#settings;
    const methodArn = arn('execute-api', `${apiId}/${stage}/${request.method}${request.path}`);
    const authorization = await authorize(authorizer, event, methodArn, variables);
    if (apiKeyRequired) {
      const apiKeyId = usageMeter.meter(authorization.usageIdentifierKey, request.receivedAt);
      variables.set({ apiKeyId }, 'identity');
    }

    const proxyEvent = JSON.stringify({
      ...event,
      requestContext: { ...event.requestContext, authorizer: authorization.context },
      ...eventBody(request),
    });
    const { lambda, timeoutMs, isStreamed } = integration;
    return isStreamed
      ? integrateStreaming(lambda, proxyEvent, timeoutMs, authorization.usageIdentifierKey)
      : integrate(lambda, proxyEvent, timeoutMs);
  }

  /** What only the end of an answer would show, such as how long it took, stays empty. */
  #log(status: number, variables: ContextVariables): void {
    const { accessLog } = this.#settings;
    variables.set({ status });
    accessLog?.sink(`${variables.substitute(accessLog.format, '-')}\n`);
  }
}
