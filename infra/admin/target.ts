import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { exactNumbers } from '../../shared/dynamodb.ts';
import { type ApiStage, gatewayClient } from '../../shared/key-registry/gateway-client.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { account, localCredentials, OUTPUTS_PATH } from '../local-endpoint.ts';
import { stackNameOf, type StageName } from '../stages.ts';
import { AdminError, reasonOf } from './admin-error.ts';
import { reportWaiting } from './waiting.ts';

export interface TargetOptions {
  /** Address of a local host. */
  readonly url: string;
  /** A deployment on AWS, instead of the one at `url`. */
  readonly stage?: StageName;
}

/** The service that a command works on. */
export interface Target {
  readonly gateway: APIGatewayClient;
  readonly documents: DynamoDBDocumentClient;
  readonly apiStage: ApiStage;
  readonly keyTable: KeyTable;
  readonly stockTable: string;
  readonly petsTable: string;
  readonly ordersTable: string;
  /** Base address of the API, without a slash at its end. */
  readonly baseUrl: string;
  /** For messages: where that is. */
  readonly place: string;
}

const outputsSchema = v.object({
  ApiId: v.string(),
  ApiStage: v.string(),
  BaseUrl: v.string(),
  KeysTableName: v.string(),
  StockTableName: v.string(),
  PetsTableName: v.string(),
  OrdersTableName: v.string(),
});

type Outputs = v.InferOutput<typeof outputsSchema>;
type Connection = ConstructorParameters<typeof DynamoDBClient>[0] &
  ConstructorParameters<typeof CloudFormationClient>[0];

/** Finds the service: the local host at an address, or a stage on AWS. @throws AdminError where it cannot be reached */
export function findTarget({ url, stage }: TargetOptions): Promise<Target> {
  return stage === undefined ? localTarget(url) : awsTarget(stage);
}

async function localTarget(url: string): Promise<Target> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new AdminError(`--url ${url} is no address. It must be one such as http://localhost:3000.`);
  const { origin } = new URL(url);
  const outputs = v.safeParse(outputsSchema, await fetchJson(`${origin}${OUTPUTS_PATH}`));
  if (!outputs.success)
    throw new AdminError(`What answers at ${origin} is no local host of this version of the service.`);
  const connection = { endpoint: origin, region: account.region, credentials: localCredentials };
  return targetOf({ ...outputs.output, BaseUrl: `${origin}/${outputs.output.ApiStage}` }, connection, origin);
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const { origin } = new URL(url);
    throw new AdminError(
      `No local host answers at ${origin}. Start one with npm start, name another with --url, or use --stage for AWS.`,
    );
  }
}

async function awsTarget(stage: StageName): Promise<Target> {
  const outputs = v.safeParse(outputsSchema, await stackOutputs(stage));
  if (outputs.success) return targetOf(outputs.output, {}, `the stage ${stage}`);
  throw new AdminError(
    `The stage ${stage} runs another version of the service than this command belongs to: deploy this one, or check out that one.`,
  );
}

async function stackOutputs(stage: StageName): Promise<Record<string, string | undefined>> {
  const stackName = stackNameOf(stage);
  const cloudFormation = new CloudFormationClient({});
  try {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackName }));
    const outputs = Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue]) ?? [];
    return Object.fromEntries(outputs);
  } catch (error) {
    const endpoint = process.env.AWS_ENDPOINT_URL;
    const elsewhere = endpoint === undefined ? '' : ` AWS_ENDPOINT_URL is set to ${endpoint}: unset it.`;
    const hint = `Check the AWS credentials, AWS_REGION, and that the stack ${stackName} is deployed there`;
    throw new AdminError(
      `Cannot reach the stage ${stage}: ${reasonOf(error)}. ${hint}; or leave out --stage.${elsewhere}`,
    );
  } finally {
    cloudFormation.destroy();
  }
}

function targetOf(outputs: Outputs, connection: Connection, place: string): Target {
  const dynamodb = new DynamoDBClient({ maxAttempts: 5, ...connection });
  const documents = DynamoDBDocumentClient.from(dynamodb, { unmarshallOptions: { ...exactNumbers } });
  return {
    gateway: gatewayClient(connection, reportWaiting),
    documents,
    apiStage: { apiId: outputs.ApiId, stage: outputs.ApiStage },
    keyTable: new KeyTable(documents, outputs.KeysTableName),
    stockTable: outputs.StockTableName,
    petsTable: outputs.PetsTableName,
    ordersTable: outputs.OrdersTableName,
    baseUrl: outputs.BaseUrl,
    place,
  };
}
