/**
 * The local host: the service on a laptop, from the template that is deployed.
 *
 * Problem. Developers and newcomers need AWS's behavior without an account, Docker or Java.
 *
 * Algorithm. `assembly/` lets a process of its own synthesize the template, once per state of the sources.
 * `template/` reads of it what serves requests. `http-server.ts` shares one address: below the stage `gateway/` takes a
 * request through router, authorizer, usage plan and integration; at the root are DynamoDB's API (`dynamodb/`: dynalite
 * with what it lacks), API Gateway's own (`control-plane/`), the outputs and the reference page. `lambda/` runs the
 * bundles that are deployed. Each function makes the DynamoDB calls that its role grants, and no other. `terminal.ts`
 * shows requests and errors.
 *
 * Concurrency. Functions share one worker thread and run side by side in it, 50 events of each; more of them wait,
 * before their time begins. An event that outlasts its function's time-out ends the thread: what runs beside it gets a
 * second to end, and what comes, or was not begun, runs in the next thread. Under a debugger no time-out runs. The
 * engine has a thread of its own; its writes run one after the other. The sync of keys runs once at a time, after
 * changes and at its interval. Requests that come before the host is ready wait. The lock of LevelDB refuses a data
 * folder to a second host.
 *
 * Errors. What the user can do something about is a HostError, one line at the end of the start. A resource type that
 * serves requests and that the host does not know is one, and so is a property that it needs and does not find. What
 * fails in a request is answered as API Gateway does, and the host goes on; what fails in the database ends it.
 *
 * Imports: `shared`, the files beside the folder, the page of `reference`, and to watch functions the bundler of
 * `stack`; `functions` only as bundles.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanId } from '../../shared/keys/plans.ts';
import { demoKeys } from '../demo-keys.ts';
import { createControlPlane } from './control-plane/control-plane.ts';
import { GatewayRecords } from './control-plane/gateway-records.ts';
import { applyTemplate } from './control-plane/template-records.ts';
import { assemble } from './assembly/assemble.ts';
import { readAssembly } from './assembly/read-assembly.ts';
import { makeDirectory } from './data-directory.ts';
import { type Engine, startEmbeddedEngine } from './dynamodb/engine.ts';
import { loadRestApi } from './gateway/load-rest-api.ts';
import { createHttpServer, type Service } from './http-server.ts';
import { loadFunctions, reloadSaved } from './lambda/load-functions.ts';
import { closeServer, listen, ownHost, urlHost } from './listening.ts';
import { LogGroups } from './log-groups.ts';
import { prepareData } from './prepare-data.ts';
import { loadSyncSchedule } from './sync-schedule.ts';
import { ServedStack } from './template/stack.ts';
import type { Terminal } from './terminal.ts';

export interface HostOptions {
  /** Folder that keeps data and logs; in memory without one. */
  readonly dataDirectory: string | undefined;
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly sampleData: boolean;
  /** Directory of an existing cloud assembly; without one the service is synthesized. */
  readonly assembly?: string | undefined;
  /** Runs a function as it is from when its file is saved; not with an assembly that is there already. */
  readonly watch?: boolean;
  /** Shows requests and errors; without one they are in the logs alone. */
  readonly terminal?: Terminal | undefined;
}

/** The running service. */
export interface Host extends Pick<Service, 'engineEndpoint' | 'outputs'> {
  /** Ends in the stage: `http://localhost:3000/v1`. */
  readonly baseUrl: string;
  /** A demo key per plan. */
  readonly keys: Readonly<Record<PlanId, string>>;
  /** The plans whose demo key opens this host. */
  readonly openPlans: ReadonlySet<PlanId>;
  /** Folder of the log files; gone with the host where data is kept in memory. */
  readonly logDirectory: string;
  /** The gateway's API keys, usage plans and usage. */
  readonly records: GatewayRecords;
  close(): Promise<void>;
}

/**
 * Runs the service on this machine from its synthesized template.
 *
 * @param starting the engine; its thread may have begun before this module was loaded
 * @throws HostError where the template, the data folder, the engine or the address cannot be used
 */
export async function startHost(
  options: HostOptions,
  starting = startEmbeddedEngine(options.dataDirectory),
): Promise<Host> {
  const closings = new AsyncDisposableStack();
  closings.defer(async () => (await starting).close());
  try {
    return await start(options, starting, closings);
  } catch (error) {
    // The user must see why it could not start, and not what could not be closed after it.
    await closings.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function start(options: HostOptions, starting: Promise<Engine>, closings: AsyncDisposableStack): Promise<Host> {
  const { dataDirectory } = options;
  // A port that is taken is found before the rest, and the functions get the host's own address.
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, options.host, options.terminal);
  closings.defer(() => closeServer(server));
  const [address, engine] = await Promise.all([listen(server, options.host, options.port), starting]);

  const temporary = temporaryDirectory(closings);
  const records = GatewayRecords.open(dataDirectory);
  closings.defer(() => records.save());
  if (options.assembly === undefined) await assemble(temporary);
  const synthesized = readAssembly(options.assembly ?? temporary);
  const origin = `http://${urlHost(options.host)}:${address.port}`;
  const stack = new ServedStack(synthesized.name, synthesized.template, origin);
  applyTemplate(records, stack);
  const logDirectory = makeDirectory(dataDirectory ?? temporary, 'logs');
  const logGroups = new LogGroups(logDirectory);
  closings.defer(() => logGroups.close());

  const log = (group: string, text: string): void => {
    logGroups.write(group, text);
    options.terminal?.log(text);
  };
  const gateway = `http://${ownHost(address)}:${address.port}`;
  const functions = loadFunctions(stack, synthesized, engine, gateway, log);
  closings.defer(() => functions.all.stop());
  if (options.watch && options.assembly === undefined)
    closings.defer(await reloadSaved(functions.all, functions.codeDirectories));
  const restApi = loadRestApi(stack, functions.byArn, records);
  const openPlans = await prepareData(stack, engine, records, options);
  await records.save();
  const schedule = loadSyncSchedule(stack, functions.byArn, (line) => log('key-sync', line));
  closings.defer(() => schedule.close());
  const controlPlane = createControlPlane(records, () => schedule.runSoon());
  const { outputs } = stack;
  const { endpoint: engineEndpoint } = engine;
  service.resolve({ restApi, controlPlane, engineEndpoint, outputs });
  return {
    baseUrl: `${origin}/${restApi.stage}`,
    keys: demoKeys,
    openPlans,
    logDirectory,
    records,
    engineEndpoint,
    outputs,
    close: async () => {
      // Answers that are under way need all the rest.
      await closeServer(server);
      await closings.disposeAsync();
    },
  };
}

/** A folder that is gone with the host. */
function temporaryDirectory(closings: AsyncDisposableStack): string {
  const directory = mkdtempSync(join(tmpdir(), 'pet-store-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // For a host that is stopped before it has started.
  process.once('exit', remove);
  closings.defer(() => {
    process.off('exit', remove);
    remove();
  });
  return directory;
}
