import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiKeySourceType,
  AuthorizationType,
  CfnAuthorizer,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  MockIntegration,
  RequestAuthorizer,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { methodsOf, type OperationId, operations } from '../../shared/contract/operations.ts';
import { limitHeaders, unknownLimit } from '../../shared/http/authorizer-context.ts';
import { allowedRequestHeaders } from '../../shared/http/cors.ts';
import { acknowledge } from './acknowledge.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { STREAMING_TIMEOUT } from './operation-functions.ts';

/** The version segment that every base address ends in (spec §1 and §9). */
const STAGE_NAME = 'v1';

/** Resource that takes every path no other resource takes. */
const ANY_PATH = '{path+}';

/** Operations whose answer is streamed. */
const STREAMED: ReadonlySet<OperationId> = new Set(['listInventory', 'listOrders']);

/** How long a browser may remember what a preflight said: an hour. */
const PREFLIGHT_SECONDS = 3_600;

export interface InventoryApiProps {
  readonly name: string;
  /** Origin of the reference page, whose try-it calls the API from a browser. */
  readonly pageOrigin: string;
  readonly functions: {
    readonly authorizer: IFunction;
    readonly fallback: IFunction;
    readonly operations: Record<OperationId, IFunction>;
  };
}

/** The REST API: every method authorised and metered, every operation on its own function, the rest on the fallback. */
export class InventoryApi extends Construct {
  readonly restApi: RestApi;

  constructor(scope: Construct, id: string, { name, functions, pageOrigin }: InventoryApiProps) {
    super(scope, id);
    const authorizer = new RequestAuthorizer(this, 'Authorizer', {
      handler: functions.authorizer,
      // No identity source and no caching: every request reaches the authorizer, and is counted by it.
      identitySources: [],
      resultsCacheTtl: Duration.seconds(0),
    });
    dropEmptyIdentitySource(authorizer);
    this.restApi = new RestApi(this, 'RestApi', {
      restApiName: name,
      apiKeySourceType: ApiKeySourceType.AUTHORIZER,
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: true,
      defaultMethodOptions: { authorizer, apiKeyRequired: true },
      deployOptions: {
        stageName: STAGE_NAME,
        loggingLevel: MethodLoggingLevel.ERROR,
        metricsEnabled: true,
        accessLogDestination: new LogGroupLogDestination(
          new LogGroup(this, 'AccessLogs', {
            retention: RetentionDays.ONE_MONTH,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
        ),
        accessLogFormat,
      },
    });
    this.#route(functions, pageOrigin);
    addGatewayResponses(this.restApi, pageOrigin);
    this.#acknowledgeFindings();
  }

  #route({ operations: operationFunctions, fallback }: InventoryApiProps['functions'], pageOrigin: string): void {
    const toFallback = integration(fallback);
    const paths = new Set<string>();
    for (const id of operationIds()) {
      const { method, path } = operations[id];
      const target = operationFunctions[id];
      this.#addMethod(path, method, STREAMED.has(id) ? streamingIntegration(target) : integration(target));
      paths.add(path);
    }
    for (const path of ['/', ...paths, `/${ANY_PATH}`]) {
      this.#addMethod(path, 'ANY', toFallback);
    }
    for (const path of paths) this.#addPreflight(path, pageOrigin);
  }

  /** What a browser asks before a page may call the API: it sends no key, and is no request to the service. */
  #addPreflight(path: string, pageOrigin: string): void {
    const headers = {
      'Access-Control-Allow-Origin': pageOrigin,
      'Access-Control-Allow-Methods': methodsOf(path).join(', '),
      'Access-Control-Allow-Headers': allowedRequestHeaders.join(', '),
      'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      ...Object.fromEntries(Object.entries(limitHeaders).map(([header, source]) => [header, unknownLimit[source]])),
    };
    const parameters = Object.entries(headers).map(([header, value]) => [`method.response.header.${header}`, value]);
    const answer = new MockIntegration({
      requestTemplates: { 'application/json': JSON.stringify({ statusCode: 204 }) },
      integrationResponses: [
        {
          statusCode: '204',
          responseParameters: Object.fromEntries(parameters.map(([name, value]) => [name, `'${value}'`])),
        },
      ],
    });
    const method = this.restApi.root.resourceForPath(path).addMethod('OPTIONS', answer, {
      authorizationType: AuthorizationType.NONE,
      apiKeyRequired: false,
      methodResponses: [
        {
          statusCode: '204',
          responseParameters: Object.fromEntries(parameters.map(([name]) => [String(name), true])),
        },
      ],
    });
    const reason = 'A browser asks before it sends a key; the answer is the same for everybody.';
    acknowledge(method, 'APIG4', reason);
    acknowledge(method, 'COG4', reason);
  }

  #addMethod(path: string, httpMethod: string, target: LambdaIntegration): void {
    const method = this.restApi.root.resourceForPath(path).addMethod(httpMethod, target);
    acknowledge(method, 'COG4', 'Clients are programs with API keys (spec §5), which our own authorizer checks.');
  }

  #acknowledgeFindings(): void {
    acknowledge(
      this.restApi,
      'APIG2',
      'The functions validate: a gateway validator cannot name the field that is wrong in the Error body.',
    );
    acknowledge(
      this.restApi.deploymentStage,
      'APIG3',
      'Every request needs an API key with limits of its own, and refused requests are throttled together.',
    );
    acknowledge(
      this.restApi.node.findChild('CloudWatchRole'),
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'The policy that AWS keeps for the one purpose of this role: API Gateway writing to CloudWatch Logs.',
    );
  }
}

/** The construct renders "no identity source" as an empty one, which API Gateway has no meaning for. */
function dropEmptyIdentitySource(authorizer: RequestAuthorizer): void {
  const resource = authorizer.node.findChild('Resource');
  if (resource instanceof CfnAuthorizer) resource.addPropertyDeletionOverride('IdentitySource');
}

/** One JSON line a request. Neither the path nor the key value: both may hold what must not be logged. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    time: AccessLogField.contextRequestTime(),
    ip: AccessLogField.contextIdentitySourceIp(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    bytes: AccessLogField.contextResponseLength(),
    milliseconds: AccessLogField.contextResponseLatency(),
    keyId: AccessLogField.contextAuthorizerPrincipalId(),
    outcome: AccessLogField.contextAuthorizer('outcome'),
    gatewayError: AccessLogField.contextErrorResponseType(),
  }),
);

function integration(handler: IFunction): LambdaIntegration {
  return new LambdaIntegration(handler, { allowTestInvoke: false, timeout: Duration.seconds(29) });
}

/** API Gateway passes the answer on as it comes, whatever its size. */
function streamingIntegration(handler: IFunction): LambdaIntegration {
  return new LambdaIntegration(handler, {
    allowTestInvoke: false,
    timeout: STREAMING_TIMEOUT,
    responseTransferMode: ResponseTransferMode.STREAM,
  });
}

function operationIds(): OperationId[] {
  return Object.keys(operations).filter((id): id is OperationId => id in operations);
}
