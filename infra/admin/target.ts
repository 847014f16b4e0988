import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayClient, APIGatewayClientConfig } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { exactNumbers } from '../../shared/dynamodb.ts';
import { type ApiStage, gatewayClient } from '../../shared/key-registry/gateway-client.ts';
import { KeyTable, type UnreadableRecordError } from '../../shared/key-registry/key-table.ts';
import { StockStore } from '../../shared/stores/stock-store.ts';
import { account, localCredentials, OUTPUTS_PATH } from '../local-endpoint.ts';
import { type AnyStageName, stackNameOf } from '../stages.ts';
import { AdminError, reasonOf } from './admin-error.ts';

export interface TargetOptions {
  /** Address of a local host. */
  readonly url: string;
  /** A deployment on AWS, instead of the one at `url`. */
  readonly stage?: AnyStageName;
}

/** What an operation reports while it is under way. */
export interface Notices {
  /** API Gateway throttles, and the operation waits; called each time that happens. */
  readonly throttled: () => void;
  /** A record of the keys table is left out of the result. */
  readonly unreadable: (error: UnreadableRecordError) => void;
  /** What is left to do after a command that is done, in words for an admin. */
  readonly incomplete: (message: string) => void;
}

/** The service that an operation works on. */
export interface Target {
  readonly gateway: APIGatewayClient;
  readonly documents: DynamoDBDocumentClient;
  readonly apiStage: ApiStage;
  /** On AWS: which one it is. */
  readonly stage: AnyStageName | undefined;
  readonly keyTable: KeyTable;
  /** Updates of stock, with the API's own checks. */
  readonly stock: StockStore;
  readonly stockTable: string;
  readonly petsTable: string;
  readonly ordersTable: string;
  /** Base address of the API, without a slash at its end. */
  readonly baseUrl: string;
  /** For messages: where that is. */
  readonly place: string;
  readonly notices: Notices;
  /** Waits for so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<void>;
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

/** Finds the service: the local host at an address, or a stage on AWS. @throws AdminError where it cannot be reached */
export async function findTarget({ url, stage }: TargetOptions, notices: Notices): Promise<Target> {
  if (stage !== undefined) {
    const outputs = v.safeParse(outputsSchema, await stackOutputs(stage));
    if (outputs.success) return targetOf(outputs.output, {}, { place: `the stage ${stage}`, stage, notices });
    throw new AdminError(
      `The stage ${stage} runs another version of the service than this command belongs to: deploy this one, or check out that one.`,
    );
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new AdminError(`--url ${url} is no address. It must be one such as http://localhost:3000.`);
  const { origin } = new URL(url);
  const outputs = v.safeParse(outputsSchema, await hostOutputs(origin));
  if (!outputs.success)
    throw new AdminError(`What answers at ${origin} is no local host of this version of the service.`);
  const connection = { endpoint: origin, region: account.region, credentials: localCredentials };
  const atOrigin = { ...outputs.output, BaseUrl: `${origin}/${outputs.output.ApiStage}` };
  return targetOf(atOrigin, connection, { place: origin, stage: undefined, notices });
}

/** A local host's refusal of a call from another machine. */
const refusalSchema = v.object({ __type: v.literal('AccessDeniedException'), message: v.string() });

/** @throws AdminError where nothing answers, or a local host that does not take admin commands from here */
async function hostOutputs(origin: string): Promise<unknown> {
  let body: unknown;
  try {
    const response = await fetch(`${origin}${OUTPUTS_PATH}`, { signal: AbortSignal.timeout(5_000) });
    body = await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new AdminError(
      `No local host answers at ${origin}. Start one with npm start, name another with --url, or use --stage for AWS.`,
    );
  }
  if (!v.is(refusalSchema, body)) return body;
  throw new AdminError(
    `The local host at ${origin} takes no admin commands from here: ${body.message}. ` +
      'Run the command on the machine of the host, with --url http://localhost and its port.',
  );
}

async function stackOutputs(stage: AnyStageName): Promise<Record<string, string | undefined>> {
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

type Connection = Pick<DynamoDBClientConfig & APIGatewayClientConfig, 'endpoint' | 'region' | 'credentials'>;

function targetOf(
  outputs: Outputs,
  connection: Connection,
  where: Pick<Target, 'place' | 'stage' | 'notices'>,
): Target {
  const documentsOf = (maxAttempts: number): DynamoDBDocumentClient =>
    DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts, ...connection }), {
      unmarshallOptions: { ...exactNumbers },
    });
  const documents = documentsOf(5);
  return {
    ...where,
    gateway: gatewayClient(connection, where.notices.throttled),
    documents,
    apiStage: { apiId: outputs.ApiId, stage: outputs.ApiStage },
    keyTable: new KeyTable(documents, outputs.KeysTableName),
    // One try: the store knows itself which write may be sent again.
    stock: new StockStore(documentsOf(1), outputs.StockTableName),
    stockTable: outputs.StockTableName,
    petsTable: outputs.PetsTableName,
    ordersTable: outputs.OrdersTableName,
    baseUrl: outputs.BaseUrl,
    pause: sleep,
  };
}
