import { Duration, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import { Construct } from 'constructs';
import { operations } from '../../shared/contract/operations.ts';
import { methodsFor, methodsOf, type OperationId, operationIds } from '../../shared/contract/routes.ts';
import {
  allowedMethods,
  allowedRequestHeaders,
  corsHeaders,
  securityHeaders,
  unknownLimitHeaders,
} from '../../shared/http/response-headers.ts';
import type { StageSettings } from '../stages.ts';
import { VERSION_SEGMENT } from './domains.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { inSequence, resourceOf, resourcesOf } from './construct-tree.ts';
import { isStreaming, type OperationFunctions, timedOperation } from './operation-functions.ts';
import type { ServiceFunction } from './service-function.ts';

/** Fraction of the requests that X-Ray samples. */
const TRACED_SHARE = 0.01;

/** How long a browser may cache a preflight: one hour. */
const PREFLIGHT_SECONDS = 3_600;

export interface InventoryApiProps extends StageSettings {
  readonly functions: OperationFunctions;
  /** Origin of the reference page. */
  readonly pageOrigin: string | undefined;
}

/** The REST API: every method authorized and metered, every operation on its own function, the rest on the fallback. */
export class InventoryApi extends Construct {
  readonly restApi: apigateway.RestApi;
  /** The API's name in its metrics. */
  readonly name: string;
  readonly accessLogs: LogGroup;

  constructor(scope: Construct, id: string, props: InventoryApiProps) {
    super(scope, id);
    const { functions, lists, gatewayLogs } = props;
    this.name = `Pet store inventory (${props.name})`;
    const authorizer = new apigateway.RequestAuthorizer(this, 'Authorizer', {
      handler: functions.byName.authorizer.live,
      // No identity source and no caching: every request reaches the authorizer, which counts it.
      identitySources: [],
      resultsCacheTtl: Duration.seconds(0),
    });
    // The construct renders "no identity source" as an empty one, which API Gateway does not define.
    resourceOf(authorizer).addPropertyDeletionOverride('IdentitySource');
    this.accessLogs = new LogGroup(this, 'AccessLogs');
    this.restApi = new apigateway.RestApi(this, 'RestApi', {
      restApiName: this.name,
      apiKeySourceType: apigateway.ApiKeySourceType.AUTHORIZER,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      cloudWatchRole: gatewayLogs,
      defaultMethodOptions: { authorizer, apiKeyRequired: true },
      deployOptions: {
        stageName: VERSION_SEGMENT,
        ...methodSettings(props),
        tracingEnabled: true,
        ...(gatewayLogs && {
          accessLogDestination: new apigateway.LogGroupLogDestination(this.accessLogs),
          accessLogFormat,
        }),
      },
    });
    // TLS 1.2 and 1.3 with forward secrecy; by default a regional API still allows TLS 1.0.
    resourceOf(this.restApi).addPropertyOverride('SecurityPolicy', apigateway.SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09);
    resourceOf(this.restApi).addPropertyOverride('EndpointAccessMode', apigateway.EndpointAccessMode.STRICT);
    this.#sampleTraces();
    if (gatewayLogs) this.#expireExecutionLogs();
    this.#route(functions, lists.seconds);
    addGatewayResponses(this.restApi, props.pageOrigin);
    // A first deployment that creates all of them concurrently fails with 429.
    for (const kind of [
      'ApiGateway::Resource',
      'ApiGateway::GatewayResponse',
      'ApiGateway::Method',
      'Lambda::Permission',
    ])
      inSequence(resourcesOf(this.restApi, `AWS::${kind}`));
    // A new version of the API follows the functions that it is for, and the permissions to invoke them. If an alarm
    // rolls those back, the deploy ends there, and the API stays as it was.
    const permissions = resourcesOf(this.restApi, 'AWS::Lambda::Permission');
    this.restApi.latestDeployment?.node.addDependency(...functions.all.map(({ live }) => live), ...permissions);
  }

  /** The method of an operation. @throws Error if there is none */
  methodOf(id: OperationId): apigateway.Method {
    const { method, path } = operations[id];
    const found = this.restApi.methods.find(
      ({ httpMethod, resource }) => httpMethod === method && resource.path === path,
    );
    if (!found) throw new Error(`${id} has no method`);
    return found;
  }

  /** API Gateway would create this group itself, without an expiry. */
  #expireExecutionLogs(): void {
    const { restApiId, deploymentStage } = this.restApi;
    const logGroupName = `API-Gateway-Execution-Logs_${restApiId}/${VERSION_SEGMENT}`;
    deploymentStage.node.addDependency(new LogGroup(this, 'ExecutionLogs', { logGroupName }));
  }

  /** X-Ray's default rule also samples the first request of each second: with little traffic, most of them. */
  #sampleTraces(): void {
    new CfnSamplingRule(this, 'Sampling', {
      samplingRule: {
        ruleName: Stack.of(this).stackName,
        priority: 1_000,
        version: 1,
        reservoirSize: 0,
        fixedRate: TRACED_SHARE,
        serviceType: 'AWS::ApiGateway::Stage',
        serviceName: `${this.name}/${VERSION_SEGMENT}`,
        resourceArn: '*',
        host: '*',
        httpMethod: '*',
        urlPath: '*',
      },
    });
  }

  #route({ byName }: OperationFunctions, listSeconds: number): void {
    const paths = new Set<string>();
    for (const id of operationIds) {
      const { method, path } = operations[id];
      const proxy = integration(byName[id], isStreaming(id) ? listSeconds : undefined);
      for (const each of methodsFor(method)) this.restApi.root.resourceForPath(path).addMethod(each, proxy);
      paths.add(path);
    }
    const toFallback = integration(byName.fallback);
    for (const path of ['/', ...paths, '/{path+}'])
      this.restApi.root.resourceForPath(path).addMethod('ANY', toFallback);
    for (const path of paths) this.#addPreflight(path);
  }

  /** The preflight of a browser before a page calls the API: without a key, and not counted. */
  #addPreflight(path: string): void {
    const headers = {
      'Access-Control-Allow-Origin': corsHeaders['Access-Control-Allow-Origin'],
      'Access-Control-Allow-Methods': methodsOf(path).join(', '),
      'Access-Control-Allow-Headers': allowedRequestHeaders.join(', '),
      'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      ...allowedMethods(path),
      ...securityHeaders,
      ...unknownLimitHeaders,
    };
    const values = Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]);
    const response = new apigateway.MockIntegration({
      requestTemplates: { 'application/json': JSON.stringify({ statusCode: 204 }) },
      integrationResponses: [{ statusCode: '204', responseParameters: Object.fromEntries(values) }],
    });
    this.restApi.root.resourceForPath(path).addMethod('OPTIONS', response, {
      authorizationType: apigateway.AuthorizationType.NONE,
      apiKeyRequired: false,
      methodResponses: [
        { statusCode: '204', responseParameters: Object.fromEntries(values.map(([name]) => [name, true])) },
      ],
    });
  }
}

/** Settings of all methods. One with metrics, which are billed, repeats them: omitted ones would be AWS's. */
function methodSettings({ throttle, alarms, dashboard, gatewayLogs }: StageSettings) {
  const settings = {
    loggingLevel: gatewayLogs ? apigateway.MethodLoggingLevel.ERROR : apigateway.MethodLoggingLevel.OFF,
    throttlingRateLimit: throttle.requestsPerSecond,
    throttlingBurstLimit: throttle.burst,
  };
  const { method, path } = operations[timedOperation];
  const timed = (alarms || dashboard) && { [`${path}/${method}`]: { ...settings, metricsEnabled: true } };
  return { ...settings, metricsEnabled: false, methodOptions: { ...timed } };
}

/** One JSON line per request, without path and key value: both may contain secrets. */
const accessLogFormat = apigateway.AccessLogFormat.custom(
  JSON.stringify({
    requestId: apigateway.AccessLogField.contextRequestId(),
    time: apigateway.AccessLogField.contextRequestTime(),
    ip: apigateway.AccessLogField.contextIdentitySourceIp(),
    method: apigateway.AccessLogField.contextHttpMethod(),
    resource: apigateway.AccessLogField.contextResourcePath(),
    status: apigateway.AccessLogField.contextStatus(),
    bytes: apigateway.AccessLogField.contextResponseLength(),
    milliseconds: apigateway.AccessLogField.contextResponseLatency(),
    integrationMilliseconds: apigateway.AccessLogField.contextIntegrationLatency(),
    keyId: apigateway.AccessLogField.contextAuthorizerPrincipalId(),
    plan: apigateway.AccessLogField.contextAuthorizer('plan'),
    outcome: apigateway.AccessLogField.contextAuthorizer('outcome'),
    gatewayError: apigateway.AccessLogField.contextErrorResponseType(),
  }),
);

/** @param streamedSeconds makes API Gateway stream the response, of any size, for this long */
function integration({ live }: ServiceFunction, streamedSeconds?: number): apigateway.LambdaIntegration {
  const timeout = Duration.seconds(streamedSeconds ?? 29);
  const streaming = streamedSeconds !== undefined && { responseTransferMode: apigateway.ResponseTransferMode.STREAM };
  // Permissions of single methods would follow the stage: a new route would be live before API Gateway may invoke it.
  return new apigateway.LambdaIntegration(live, { scopePermissionToMethod: false, timeout, ...streaming });
}
