import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanId } from '../../shared/keys/plans.ts';
import { demoKeys } from '../demo-keys.ts';
import { assemble } from './assemble.ts';
import { readAssembly } from './assembly.ts';
import { createControlPlane } from './account/control-plane.ts';
import { makeFolder, openDataFolder } from './data-folder.ts';
import { type Engine, externalEngine, startEmbeddedEngine } from './dynamodb/engine.ts';
import { createHttpServer, type Service } from './http-server.ts';
import { loadRestApi } from './gateway/load-rest-api.ts';
import { GatewayRecords } from './account/gateway-records.ts';
import { applyTemplate } from './account/template-records.ts';
import type { LambdaFunction } from './lambda/lambda-function.ts';
import { loadFunctions } from './lambda/load-functions.ts';
import { loadSyncSchedule } from './sync-schedule.ts';
import { closeServer, listen, ownHost, urlHost } from './listening.ts';
import { LogGroups } from './log-sink.ts';
import { prepareData } from './prepare-data.ts';
import { ServedStack } from './template/stack.ts';

export interface HostOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Folder that keeps data and logs; in memory without one. */
  readonly dataFolder: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  readonly dynamodb?: URL | undefined;
  readonly sampleData: boolean;
  /** Folder of a cloud assembly that is there already; without one the service is synthesised. */
  readonly assembly?: string | undefined;
}

/** What serves requests now. */
type Served = Awaited<ReturnType<typeof serve>>;

/** The running service. */
export interface Host extends Pick<Served, 'engineEndpoint' | 'openPlans' | 'outputs'> {
  /** Ends in the stage: `http://localhost:3000/v1`. */
  readonly baseUrl: string;
  /** A demo key per plan. */
  readonly keys: Readonly<Record<PlanId, string>>;
  /** Folder of the log files; gone with the host where data is kept in memory. */
  readonly logFolder: string;
  /** The gateway's API keys, usage plans and usage. */
  readonly records: GatewayRecords;
  /** The functions that serve requests now. */
  functions(): readonly LambdaFunction[];
  /** Synthesises the service again, and serves it; what is under way finishes. @throws HostError, and serves what it did */
  synthesizeAgain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs the service on this machine from its synthesized template.
 *
 * @throws HostError where the template, the data folder, the engine or the address cannot be used
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const closings = new AsyncDisposableStack();
  try {
    return await start(options, closings);
  } catch (error) {
    // The user must see why it could not start, and not what could not be closed after it.
    await closings.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function start(options: HostOptions, closings: AsyncDisposableStack): Promise<Host> {
  // Listening comes first: a port that is taken is found at once, and the functions get the host's own address.
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, options.host);
  const address = await listen(server, options.host, options.port);
  closings.defer(() => closeServer(server));

  const assemblyFolder = temporaryFolder(closings);
  if (options.dataFolder !== undefined) openDataFolder(options.dataFolder);
  const engine = options.dynamodb ? externalEngine(options.dynamodb) : await startEmbeddedEngine(options.dataFolder);
  closings.defer(() => engine.close());
  const records = GatewayRecords.open(options.dataFolder);
  closings.defer(() => records.save());
  if (options.assembly === undefined) await assemble(assemblyFolder);
  const origin = `http://${urlHost(options.host)}:${address.port}`;
  const logFolder = makeFolder(options.dataFolder ?? assemblyFolder, 'logs');
  const logGroups = new LogGroups(logFolder);
  closings.defer(() => logGroups.close());
  const endpoints = {
    AWS_ENDPOINT_URL_API_GATEWAY: `http://${ownHost(address)}:${address.port}`,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint.href,
  };
  const account = { origin, engine, records, logGroups, endpoints, sampleData: options.sampleData };
  const served = await serve(options.assembly ?? assemblyFolder, account, closings);
  service.resolve(served);
  const functions = (): LambdaFunction[] => [...new Set(served.functions.values())];
  return {
    ...served,
    baseUrl: `${origin}/${served.restApi.stage}`,
    keys: demoKeys,
    logFolder,
    records,
    functions,
    synthesizeAgain: async () => {
      const folder = mkdtempSync(join(assemblyFolder, 'again-'));
      await assemble(folder, 'pipe');
      const next = await serve(folder, account, closings);
      served.schedule.close();
      for (const lambda of functions()) lambda.renew();
      // Each request takes its parts of it when it comes.
      Object.assign(served, next);
    },
    close: async () => {
      // Answers that are under way need all the rest.
      await closeServer(server);
      await closings.disposeAsync();
    },
  };
}

/** A folder that is gone with the host. */
function temporaryFolder(closings: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // For a host that is stopped before it has started.
  process.once('exit', remove);
  closings.defer(() => {
    process.off('exit', remove);
    remove();
  });
  return folder;
}

/** What all assemblies that a host serves one after the other have in common. */
interface Account {
  readonly origin: string;
  readonly engine: Engine;
  readonly records: GatewayRecords;
  readonly logGroups: LogGroups;
  /** Variables by which every function finds the services of this host. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly sampleData: boolean;
}

/** Loads what serves requests from an assembly. */
async function serve(assembly: string, account: Account, closings: AsyncDisposableStack) {
  const { origin, engine, records, logGroups, endpoints, sampleData } = account;
  const synthesized = readAssembly(assembly);
  const stack = new ServedStack(synthesized.name, synthesized.template, origin);
  applyTemplate(records, stack);
  const functions = loadFunctions(stack, synthesized, endpoints, logGroups);
  closings.defer(async () => void (await Promise.all([...functions.values()].map((lambda) => lambda.close()))));
  const restApi = loadRestApi(stack, functions, logGroups, records);
  // Of a plan that is missing an admin has ended the demo key.
  const openPlans = await prepareData(stack, engine, records, sampleData);
  records.save();
  const schedule = loadSyncSchedule(stack, functions, logGroups.sink('key-sync'));
  closings.defer(() => schedule.close());
  const controlPlane = createControlPlane(records, () => schedule.runSoon());
  const { outputs } = stack;
  return { restApi, openPlans, functions, schedule, controlPlane, engineEndpoint: engine.endpoint, outputs };
}
