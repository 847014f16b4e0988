import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { HttpRequest, parseUrl } from '@smithy/core/protocols';
import * as v from 'valibot';
import { DeadlineHandler } from '../../../shared/deadline-handler.ts';
import { exactNumbers } from '../../../shared/item-attributes.ts';
import { StockHistory } from '../../../shared/stores/stock-history.ts';
import type { Registry } from '../../../shared/key-registry/update-gateway.ts';
import { gatewayClients } from '../../../shared/key-registry/gateway.ts';
import { KeyHistory } from '../../../shared/key-registry/key-history.ts';
import { KeyUsage } from '../../../shared/key-registry/key-usage.ts';
import { KeyTable } from '../../../shared/key-registry/key-table.ts';
import type { ExactLimits } from '../../../shared/keys/plans.ts';
import { localClient, OUTPUTS_PATH } from '../../local-endpoint.ts';
import { type AnyStageName, stackNameOf } from '../../stages.ts';
import { type TableName, tableNames } from '../../tables.ts';
import { AdminError, FailFastHandler, reasonOf, UnreachableError } from './failures.ts';
import { capitalized, DEFAULT_URL, targetOption, type TargetOptions } from './text.ts';

export interface Target extends Registry {
  readonly documents: DynamoDBDocumentClient;
  readonly history: KeyHistory;
  readonly stockHistory: StockHistory;
  /** The author of changes, as both histories have it. */
  readonly who: () => Promise<string>;
  readonly usage: KeyUsage;
  /** The stage on AWS; undefined for a local server. */
  readonly stage: AnyStageName | undefined;
  /** The highest limits that can be agreed, as deployed: the firewall blocks requests beyond them. */
  readonly maxEnterpriseLimits: ExactLimits;
  readonly tables: Readonly<Record<TableName, string>>;
  /** Base URL of the API, without a trailing slash. */
  readonly baseUrl: string;
  readonly place: string;
  /** Option that selects the service, for commands in messages. */
  readonly option: string;
  /** Reports in a sentence what is waited for, was omitted, or remains to be done. */
  readonly report: (message: string) => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

const apiOutputs = v.entriesFromList(['ApiId', 'ApiStage', 'BaseUrl'], v.string());

const limitsOutput = v.pipe(v.string(), v.parseJson(), v.object({ perMinute: v.number(), perDay: v.number() }));

/** The outputs of a stack, with the names of its tables by their content: `KeysTableName` as `tables.keys`. */
const outputsSchema = v.pipe(
  v.looseObject(apiOutputs),
  v.transform((outputs) => {
    const names = tableNames.map((table) => [table, outputs[`${capitalized(table)}TableName`]] as const);
    return { ...outputs, tables: Object.fromEntries(names) };
  }),
  v.object({
    ...apiOutputs,
    MaxEnterpriseLimits: limitsOutput,
    tables: v.object(v.entriesFromList(tableNames, v.string())),
  }),
);

/** @throws UnreachableError; AdminError if it is not this service, or refuses the admin */
export async function findTarget(options: TargetOptions, report: Target['report']): Promise<Target> {
  const { stage } = options;
  const option = targetOption(options);
  if (stage !== undefined) {
    const outputs = v.safeParse(outputsSchema, await stackOutputs(stage));
    if (outputs.success)
      return targetOf(outputs.output, awsConnection(), { place: `the stage ${stage}`, option, stage, report });
    throw new AdminError(
      `The stage ${stage} runs another version of the service than this command. Deploy this version, or check out that one.`,
    );
  }
  const origin = originOf(options.url ?? DEFAULT_URL);
  const { success, output } = v.safeParse(outputsSchema, await hostOutputs(origin));
  if (!success) throw new AdminError(`The server at ${origin} is not a local server of this version of the service.`);
  const requestHandler = new FailFastHandler(() => nothingListensAt(origin));
  const connection = { ...localClient, endpoint: origin, requestHandler };
  const atOrigin = { ...output, BaseUrl: `${origin}/${output.ApiStage}` };
  return targetOf(atOrigin, connection, { place: origin, option, stage: undefined, report });
}

/** @param address with or without `http://`, as in a browser */
function originOf(address: string): string {
  const url = address.includes('://') ? address : `http://${address}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new AdminError(`--url ${address} is not a valid address. Example: ${DEFAULT_URL}.`);
}

const nothingListensAt = (origin: string): string =>
  `No server responds at ${origin}. Start it with npm start, or pass its address with --url.`;

const awsConnection = (): Connection => ({
  requestHandler: new FailFastHandler(
    (reason) => `Cannot connect to AWS: ${reason}. Check the network, proxy or VPN, and AWS_REGION.`,
  ),
});

/** Response of a local server to a call from another machine. */
const deniedSchema = v.object({ __type: v.literal('AccessDeniedException'), message: v.string() });

/** @throws UnreachableError; AdminError if the local server refuses admin commands from this machine */
async function hostOutputs(origin: string): Promise<unknown> {
  let body: unknown;
  try {
    // fetch would use a proxy of this machine (NODE_USE_ENV_PROXY).
    const handler = new DeadlineHandler({ requestTimeout: 5_000 });
    const { response } = await handler.handle(new HttpRequest({ ...parseUrl(origin), path: OUTPUTS_PATH }));
    handler.destroy();
    body = JSON.parse(String(response.body));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new UnreachableError(nothingListensAt(origin), { cause: error });
  }
  if (!v.is(deniedSchema, body)) return body;
  throw new AdminError(
    `The local server at ${origin} refuses admin commands from this machine: ${body.message}. ` +
      'Run the command on the machine of the server, with --url http://localhost and its port.',
  );
}

/** Timeout of a lookup of the stack or the caller, including retries, in milliseconds. */
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
    const reason = abortSignal.aborted ? `no response within ${MAX_LOOKUP_MS / 1_000} seconds` : reasonOf(error);
    const profile = process.env.AWS_PROFILE ?? 'default';
    const hint = `Check the AWS credentials (profile ${profile}), AWS_REGION, and that the stack ${stackName} is deployed there`;
    throw new AdminError(
      `Cannot reach the stage ${stage}: ${reason}. Nothing was changed. ${hint}, or omit --stage.${elsewhere}`,
    );
  }
}

/** Max wait for the record of a change of stock, in milliseconds. */
const MAX_RECORD_MS = 5_000;

type Connection = Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials' | 'requestHandler'>;

/** The actor of key changes, looked up once: the caller's ARN on AWS, or the user of this machine. */
function callerOf(stage: Target['stage'], connection: Connection): () => Promise<string> {
  let caller: Promise<string> | undefined;
  const lookUp = async (): Promise<string> => {
    try {
      const abortSignal = AbortSignal.timeout(MAX_LOOKUP_MS);
      return (await new STSClient(connection).send(new GetCallerIdentityCommand(), { abortSignal })).Arn ?? '';
    } catch (error) {
      // Not for each of thousands of changes.
      setTimeout(() => (caller = undefined), MAX_LOOKUP_MS).unref();
      throw error;
    }
  };
  return async () => (stage === undefined ? userName() : (caller ??= lookUp()));
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] ?? `user ${process.getuid?.()}`;
  }
}

function targetOf(
  { ApiId, ApiStage, BaseUrl, MaxEnterpriseLimits, tables }: v.InferOutput<typeof outputsSchema>,
  connection: Connection,
  where: Pick<Target, 'place' | 'option' | 'stage' | 'report'>,
): Target {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 5, ...connection }), {
    unmarshallOptions: { ...exactNumbers },
  });
  const who = callerOf(where.stage, connection);
  const onLost = (what: string) => (error: unknown) => {
    const reason = reasonOf(error);
    where.report(`The change is in effect, but not recorded in the history of the ${what} (${reason}).`);
  };
  const history = new KeyHistory({ client: documents, tableName: tables.history, who, onLost: onLost('key') });
  const ofStock = { client: documents, tableName: tables.changes, maxWaitMs: MAX_RECORD_MS };
  return {
    ...where,
    ...gatewayClients(connection, () => where.report('API Gateway throttles the calls; waiting …')),
    documents,
    history,
    stockHistory: new StockHistory({ ...ofStock, onLost: onLost('stock') }),
    who,
    apiStage: { apiId: ApiId, stage: ApiStage },
    keyTable: new KeyTable(documents, tables.keys, history),
    usage: new KeyUsage(documents, tables.usage),
    maxEnterpriseLimits: MaxEnterpriseLimits,
    tables,
    baseUrl: BaseUrl,
    pause: sleep,
  };
}
