import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayClientConfig } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { exactNumbers } from '../../shared/item-attributes.ts';
import type { Registry } from '../../shared/key-registry/apply.ts';
import { gatewayClients } from '../../shared/key-registry/gateway-client.ts';
import { KeyHistory } from '../../shared/key-registry/key-history.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { UnreadableRecordError } from '../../shared/keys/key-record.ts';
import { account, localCredentials, OUTPUTS_PATH } from '../local-endpoint.ts';
import { type AnyStageName, stackNameOf, type TableName } from '../stages.ts';
import { AdminError, reasonOf, UnreachableError } from './admin-error.ts';
import { FailFastHandler } from './fail-fast-handler.ts';
import { DEFAULT_URL, targetOption, type TargetOptions } from './target-options.ts';

/** What an operation reports while it is under way. */
export interface ProgressListener {
  /** API Gateway throttles, and the operation waits; called each time that happens. */
  readonly throttled: () => void;
  /** A record of the keys table is left out of the result. */
  readonly unreadable: (error: UnreadableRecordError) => void;
  /** What is left to do after a command that is done, in words for an admin. */
  readonly incomplete: (message: string) => void;
}

/** The service that an operation works on. */
export interface Target extends Registry {
  readonly documents: DynamoDBDocumentClient;
  readonly history: KeyHistory;
  /** On AWS: which one it is. */
  readonly stage: AnyStageName | undefined;
  /** The names of the tables in DynamoDB. */
  readonly tables: Readonly<Record<TableName, string>>;
  /** Base address of the API, without a slash at its end. */
  readonly baseUrl: string;
  /** For messages: where that is. */
  readonly place: string;
  /** For commands in messages: the option that names it. */
  readonly option: string;
  readonly notices: ProgressListener;
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
  RequestsTableName: v.string(),
  HistoryTableName: v.string(),
});

type Outputs = v.InferOutput<typeof outputsSchema>;

/**
 * Finds the service: the local host at an address, or a stage on AWS.
 *
 * @throws UnreachableError where nothing answers; AdminError where it is not the service, or may not be used
 */
export async function findTarget(options: TargetOptions, notices: ProgressListener): Promise<Target> {
  const { stage } = options;
  const option = targetOption(options);
  if (stage !== undefined) {
    const outputs = v.safeParse(outputsSchema, await stackOutputs(stage));
    const where = { place: `the stage ${stage}`, option, stage, notices };
    if (outputs.success) return targetOf(outputs.output, awsConnection(), where);
    throw new AdminError(
      `The stage ${stage} runs another version of the service than this command belongs to: deploy this one, or check out that one.`,
    );
  }
  const origin = originOf(options.url ?? DEFAULT_URL);
  const outputs = v.safeParse(outputsSchema, await hostOutputs(origin));
  if (!outputs.success)
    throw new AdminError(`What answers at ${origin} is no local host of this version of the service.`);
  const requestHandler = new FailFastHandler(() => nothingListensAt(origin));
  const connection = { endpoint: origin, region: account.region, credentials: localCredentials, requestHandler };
  const atOrigin = { ...outputs.output, BaseUrl: `${origin}/${outputs.output.ApiStage}` };
  return targetOf(atOrigin, connection, { place: origin, option, stage: undefined, notices });
}

/** @param address with or without `http://`, as in a browser */
function originOf(address: string): string {
  const url = address.includes('://') ? address : `http://${address}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new AdminError(`--url ${address} is no address. It must be one such as ${DEFAULT_URL}.`);
}

const nothingListensAt = (origin: string): string =>
  `Nothing answers at ${origin}. Start it with npm start, or name another with --url.`;

const awsConnection = (): Connection => ({
  requestHandler: new FailFastHandler(
    (reason) => `AWS cannot be reached: ${reason}. Check the network, its proxy or VPN, and AWS_REGION.`,
  ),
});

/** The answer of a local host to a call from another machine. */
const deniedSchema = v.object({ __type: v.literal('AccessDeniedException'), message: v.string() });

/** @throws UnreachableError; AdminError where it is a local host that does not take admin commands from here */
async function hostOutputs(origin: string): Promise<unknown> {
  let body: unknown;
  try {
    const response = await fetch(`${origin}${OUTPUTS_PATH}`, { signal: AbortSignal.timeout(5_000) });
    body = await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new UnreachableError(nothingListensAt(origin), { cause: error });
  }
  if (!v.is(deniedSchema, body)) return body;
  throw new AdminError(
    `The local host at ${origin} takes no admin commands from here: ${body.message}. ` +
      'Run the command on the machine of the host, with --url http://localhost and its port.',
  );
}

/** Of a stack or the caller, its retries included. */
const MAX_LOOKUP_MS = 10_000;

async function stackOutputs(stage: AnyStageName): Promise<Record<string, string | undefined>> {
  const stackName = stackNameOf(stage);
  const cloudFormation = new CloudFormationClient(awsConnection());
  const abortSignal = AbortSignal.timeout(MAX_LOOKUP_MS);
  try {
    const describe = new DescribeStacksCommand({ StackName: stackName });
    const { Stacks = [] } = await cloudFormation.send(describe, { abortSignal });
    const outputs = Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue]) ?? [];
    return Object.fromEntries(outputs);
  } catch (error) {
    const endpoint = process.env.AWS_ENDPOINT_URL;
    const elsewhere = endpoint === undefined ? '' : ` AWS_ENDPOINT_URL is set to ${endpoint}: unset it.`;
    if (error instanceof UnreachableError) throw new UnreachableError(`${error.message}${elsewhere}`, { cause: error });
    const reason = abortSignal.aborted ? `no answer within ${MAX_LOOKUP_MS / 1_000} seconds` : reasonOf(error);
    const profile = process.env.AWS_PROFILE ?? 'default';
    const hint = `Check the AWS credentials (profile ${profile}), AWS_REGION, and that the stack ${stackName} is deployed`;
    throw new AdminError(
      `Cannot reach the stage ${stage}: ${reason}. Nothing was started. ${hint} there; or leave out --stage.${elsewhere}`,
    );
  } finally {
    cloudFormation.destroy();
  }
}

type Connection = Pick<
  DynamoDBClientConfig & APIGatewayClientConfig,
  'endpoint' | 'region' | 'credentials' | 'requestHandler'
>;

/** Who changes keys, found when first asked for: the ARN that AWS knows the caller by, or the user of this machine. */
function callerOf(stage: Target['stage'], connection: Connection): () => Promise<string> {
  let caller: string | undefined;
  return async () => {
    if (stage === undefined) return userName();
    if (caller !== undefined) return caller;
    const abortSignal = AbortSignal.timeout(MAX_LOOKUP_MS);
    const sts = new STSClient(connection);
    ({ Arn: caller = '' } = await sts.send(new GetCallerIdentityCommand(), { abortSignal }));
    sts.destroy();
    return caller;
  };
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] ?? `user ${process.getuid?.()}`;
  }
}

function targetOf(
  outputs: Outputs,
  connection: Connection,
  where: Pick<Target, 'place' | 'option' | 'stage' | 'notices'>,
): Target {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 5, ...connection }), {
    unmarshallOptions: { ...exactNumbers },
  });
  const history = new KeyHistory({
    client: documents,
    tableName: outputs.HistoryTableName,
    who: callerOf(where.stage, connection),
    onLost: (error) =>
      where.notices.incomplete(`The change is made, but not recorded in the history of the key (${reasonOf(error)}).`),
  });
  return {
    ...where,
    ...gatewayClients(connection, where.notices.throttled),
    documents,
    history,
    apiStage: { apiId: outputs.ApiId, stage: outputs.ApiStage },
    keyTable: new KeyTable(documents, outputs.KeysTableName, history),
    tables: {
      stock: outputs.StockTableName,
      keys: outputs.KeysTableName,
      pets: outputs.PetsTableName,
      orders: outputs.OrdersTableName,
      requests: outputs.RequestsTableName,
      history: outputs.HistoryTableName,
    },
    baseUrl: outputs.BaseUrl,
    pause: sleep,
  };
}
