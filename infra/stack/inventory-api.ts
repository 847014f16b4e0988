import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiKeySourceType,
  CfnAuthorizer,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RequestAuthorizer,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { acknowledge } from './acknowledge.ts';
import { addGatewayResponses } from './gateway-responses.ts';

/** The version segment that every base address ends in (spec §1 and §9). */
const STAGE_NAME = 'v1';

/** Resource that takes every path no other resource takes. */
const ANY_PATH = '{path+}';

export interface InventoryApiProps {
  readonly name: string;
  readonly functions: {
    readonly authorizer: IFunction;
    readonly fallback: IFunction;
    readonly operations: Record<OperationId, IFunction>;
  };
}

/** The REST API: every method authorised and metered, every operation on its own function, the rest on the fallback. */
export class InventoryApi extends Construct {
  readonly restApi: RestApi;

  constructor(scope: Construct, id: string, { name, functions }: InventoryApiProps) {
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
    this.#route(functions);
    addGatewayResponses(this.restApi);
    this.#acknowledgeFindings();
  }

  #route({ operations: operationFunctions, fallback }: InventoryApiProps['functions']): void {
    const toFallback = integration(fallback);
    const paths = new Set<string>();
    for (const id of operationIds()) {
      const { method, path } = operations[id];
      this.#addMethod(path, method, integration(operationFunctions[id]));
      paths.add(path);
    }
    for (const path of ['/', ...paths, `/${ANY_PATH}`]) {
      this.#addMethod(path, 'ANY', toFallback);
    }
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

function operationIds(): OperationId[] {
  return Object.keys(operations).filter((id): id is OperationId => id in operations);
}
