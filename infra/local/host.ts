import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanId } from '../../shared/keys/plans.ts';
import { demoKeys } from '../demo-keys.ts';
import { assemble } from './assemble.ts';
import { readAssembly } from './assembly.ts';
import { createControlPlane } from './account/control-plane.ts';
import { makeFolder, openDataFolder } from './data-folder.ts';
import { externalEngine, startEmbeddedEngine } from './dynamodb/engine.ts';
import { createHttpServer, type Service } from './http-server.ts';
import { loadRestApi } from './gateway/load-rest-api.ts';
import type { UsageMeter } from './gateway/usage-meter.ts';
import { GatewayRecords } from './account/gateway-records.ts';
import { applyTemplate } from './account/template-records.ts';
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

/** The running service. */
export interface Host {
  /** Ends in the stage: `http://localhost:3000/v1`. */
  readonly baseUrl: string;
  /** A demo key per plan. */
  readonly keys: Readonly<Record<PlanId, string>>;
  /** Folder of the log files; gone with the host where data is kept in memory. */
  readonly logFolder: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** The gateway's API keys, usage plans and usage. */
  readonly records: GatewayRecords;
  /** Meters requests by the records. */
  readonly usageMeter: UsageMeter;
  /** Address of the DynamoDB engine. */
  readonly engineEndpoint: URL;
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
    return { ...(await start(options, closings)), close: () => closings.disposeAsync() };
  } catch (error) {
    // The user must see why it could not start, and not what could not be closed after it.
    await closings.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function start(options: HostOptions, closings: AsyncDisposableStack): Promise<Omit<Host, 'close'>> {
  // Listening comes first: a port that is taken is found at once, and the functions get the host's own address.
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, options.host);
  const address = await listen(server, options.host, options.port);
  closings.defer(() => closeServer(server));

  const assemblyFolder = mkdtempSync(join(tmpdir(), 'pet-store-'));
  const removeAssembly = (): void => rmSync(assemblyFolder, { recursive: true, force: true });
  // For a host that is stopped before it has started.
  process.once('exit', removeAssembly);
  closings.defer(() => {
    process.off('exit', removeAssembly);
    removeAssembly();
  });
  if (options.dataFolder !== undefined) openDataFolder(options.dataFolder);
  const engine = options.dynamodb ? externalEngine(options.dynamodb) : await startEmbeddedEngine(options.dataFolder);
  closings.defer(() => engine.close());
  const records = GatewayRecords.open(options.dataFolder);
  closings.defer(() => records.save());
  if (options.assembly === undefined) await assemble(assemblyFolder);
  const synthesized = readAssembly(options.assembly ?? assemblyFolder);
  const origin = `http://${urlHost(options.host)}:${address.port}`;
  const stack = new ServedStack(synthesized.name, synthesized.template, origin);
  applyTemplate(records, stack);

  const logFolder = makeFolder(options.dataFolder ?? assemblyFolder, 'logs');
  const logGroups = new LogGroups(logFolder);
  closings.defer(() => logGroups.close());
  const endpoints = {
    AWS_ENDPOINT_URL_API_GATEWAY: `http://${ownHost(address)}:${address.port}`,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint.href,
  };
  const functions = loadFunctions(stack, synthesized, endpoints, logGroups);
  closings.defer(async () => void (await Promise.all([...functions.values()].map((lambda) => lambda.close()))));
  const schedule = loadSyncSchedule(stack, functions, logGroups.sink('key-sync'));
  closings.defer(() => schedule.close());
  const { restApi, usageMeter } = loadRestApi(stack, functions, logGroups, records);
  await prepareData(stack, engine, records, options.sampleData);
  records.save();

  const controlPlane = createControlPlane(records, () => schedule.runSoon());
  service.resolve({ restApi, controlPlane, engineEndpoint: engine.endpoint, outputs: stack.outputs });
  // Once it serves, it is the first to be closed: answers that are under way need all the rest.
  closings.defer(() => closeServer(server));
  return {
    baseUrl: `${origin}/${restApi.stage}`,
    keys: demoKeys,
    logFolder,
    outputs: stack.outputs,
    records,
    usageMeter,
    engineEndpoint: engine.endpoint,
  };
}
