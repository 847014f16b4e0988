import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { exactNumbers } from '../../shared/dynamodb.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { makeFolder } from './data-folder.ts';
import { issueDemoKeys } from './demo-keys.ts';
import { type Engine, externalEngine, startEmbeddedEngine } from './dynamodb/engine.ts';
import { createTables } from './dynamodb/tables.ts';
import { createFrontServer, listen } from './front-server.ts';
import { loadRestApi } from './gateway/load-rest-api.ts';
import type { UsagePlans } from './gateway/usage-plans.ts';
import { HostError } from './host-error.ts';
import { LambdaFunction } from './lambda/lambda-function.ts';
import { LogGroups } from './log-sink.ts';
import { loadSampleStock } from './sample-data.ts';
import { type SynthesizedStack, synthesize } from './synthesize.ts';
import { account, localCredentials } from './template/account.ts';
import { LocalStack } from './template/stack.ts';

export interface HostOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Folder that keeps data and logs; in memory without one. */
  readonly dataFolder: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  readonly dynamodb: URL | undefined;
  readonly sampleData: boolean;
}

/** The running service. */
export interface Host {
  /** Ends in the stage: `http://localhost:3000/v1`. */
  readonly baseUrl: string;
  /** A demo key per plan. */
  readonly keys: Readonly<Record<PlanId, string>>;
  /** Folder of the log files; gone with the host where data is kept in memory. */
  readonly logFolder: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly usagePlans: UsagePlans;
  /** Address of the DynamoDB engine. */
  readonly engineEndpoint: URL;
  close(): Promise<void>;
}

type Closing = () => Promise<void> | void;

/**
 * Runs the service on this machine from its synthesized template.
 *
 * @throws HostError where the template, the data folder, the engine or the address cannot be used
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const closings: Closing[] = [];
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).toReversed()) await closing();
  };
  try {
    return { ...(await start(options, closings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(options: HostOptions, closings: Closing[]): Promise<Omit<Host, 'close'>> {
  const assemblyFolder = mkdtempSync(join(tmpdir(), 'pet-store-'));
  const removeAssembly = (): void => rmSync(assemblyFolder, { recursive: true, force: true });
  // For a host that is told to stop before it has started.
  process.once('exit', removeAssembly);
  closings.push(() => {
    process.off('exit', removeAssembly);
    removeAssembly();
  });
  const engine = await startEngine(options);
  closings.push(() => engine.close());
  const synthesized = synthesize(assemblyFolder);
  const stack = new LocalStack(synthesized.name, synthesized.template);

  const logFolder = makeFolder(options.dataFolder ?? assemblyFolder, 'logs');
  const logGroups = new LogGroups(logFolder);
  closings.push(() => logGroups.close());
  const functions = loadFunctions(stack, synthesized, engine.endpoint, logGroups);
  closings.push(async () => void (await Promise.all([...functions.values()].map((lambda) => lambda.close()))));
  const { restApi, usagePlans } = loadRestApi(stack, functions, logGroups);

  const keys = await prepareData(stack, engine, usagePlans, options.sampleData);
  const server = createFrontServer({ restApi, engineEndpoint: engine.endpoint, outputs: stack.outputs });
  const port = await listen(server, options.host, options.port);
  closings.push(() => closeServer(server));
  return {
    baseUrl: `http://${urlHost(options.host)}:${port}/${restApi.stage}`,
    keys,
    logFolder,
    outputs: stack.outputs,
    usagePlans,
    engineEndpoint: engine.endpoint,
  };
}

function startEngine({ dynamodb, dataFolder }: HostOptions): Promise<Engine> {
  return dynamodb ? Promise.resolve(externalEngine(dynamodb)) : startEmbeddedEngine(dataFolder);
}

function loadFunctions(
  stack: LocalStack,
  { assetFolders }: SynthesizedStack,
  engineEndpoint: URL,
  logGroups: LogGroups,
): Map<string, LambdaFunction> {
  return new Map(
    stack.resources('AWS::Lambda::Function').map(({ logicalId, ref, properties }) => {
      const codeFolder = assetFolders.get(properties.Code.S3Key);
      if (codeFolder === undefined) throw new HostError(`Resource ${logicalId}: its code was not bundled`);
      const settings = {
        codeFolder,
        handler: properties.Handler,
        functionName: ref,
        functionArn: stack.attribute(logicalId, 'Arn'),
        memoryMegabytes: properties.MemorySize,
        timeoutSeconds: properties.Timeout,
        logGroupName: properties.LoggingConfig.LogGroup,
        variables: { ...properties.Environment.Variables, AWS_ENDPOINT_URL_DYNAMODB: engineEndpoint.href },
      };
      return [settings.functionArn, new LambdaFunction(settings, logGroups.sink(settings.logGroupName))];
    }),
  );
}

async function prepareData(
  stack: LocalStack,
  { endpoint }: Engine,
  usagePlans: UsagePlans,
  sampleData: boolean,
): Promise<Record<PlanId, string>> {
  const client = new DynamoDBClient({
    endpoint: endpoint.href,
    region: account.region,
    credentials: localCredentials,
    maxAttempts: 2,
  });
  const documents = DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
  try {
    await createTables(client, stack.resources('AWS::DynamoDB::Table'));
    if (sampleData) await loadSampleStock(documents, outputOf(stack, 'StockTableName'));
    return await issueDemoKeys(documents, outputOf(stack, 'KeysTableName'), usagePlans);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError(
      `The DynamoDB engine at ${endpoint.origin} cannot be used: ${reasonOf(error)}. Start it, or leave out --dynamodb.`,
    );
  } finally {
    client.destroy();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(String).join(', ');
  return error instanceof Error ? error.message : String(error);
}

function outputOf(stack: LocalStack, name: string): string {
  const value = stack.outputs[name];
  if (value === undefined) throw new HostError(`The template has no output ${name}`);
  return value;
}

function urlHost(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Lets answers that are under way finish, but not for long. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 300);
  await closed;
  clearTimeout(timer);
}
