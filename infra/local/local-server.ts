/**
 * The local server: the service on a laptop, from the template that is deployed.
 *
 * Problem. Developers and newcomers need AWS's behavior without an account, Docker or Java.
 *
 * Algorithm. `assembly/` synthesizes the template in a separate process, once per state of the sources; with `--watch`
 * it loads new bundles, and restarts the server for another template (`start.ts`). `template/` parses the resources
 * that serve requests. `http-server.ts` has one address: below the stage `gateway/` passes a request through router,
 * authorizer, usage plan and integration; at the root are DynamoDB's API (`dynamodb/`: dynalite with additions), API
 * Gateway's own (`control-plane/`), the outputs and the reference page. `lambda/` runs deployed bundles, each function
 * with only the DynamoDB calls that its role grants (`iam.ts`).
 *
 * Concurrency. Functions share one worker thread, 50 events of each; more of them wait, which does not count toward
 * their timeout. A function that times out and blocks the thread ends it, and all events in it. Under a debugger
 * timeouts are off. The engine has its own thread, with sequential writes. One sync of keys runs at a time. Requests
 * that arrive before the server is ready wait. LevelDB's lock refuses a data directory to a second server.
 *
 * Errors. A failure that the user can resolve is a LocalServerError, printed as one line if the start fails; so is a
 * missing property, or an unknown resource type that serves requests. A failed request returns API Gateway's error, and
 * the server keeps running; a failure of the database stops it.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { getRequestListener } from '@hono/node-server';
import { exactNumbers } from '../../shared/item-attributes.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { messageOf } from '../../shared/log.ts';
import { demoKeys } from '../demo-keys.ts';
import { localClient } from '../local-endpoint.ts';
import { createControlPlane } from './control-plane/control-plane.ts';
import { GatewayRecords } from './control-plane/gateway-records.ts';
import { assemble, readAssembly } from './assembly/assemble.ts';
import { watchSources } from './assembly/watch-sources.ts';
import { makeDirectory, temporaryDirectory } from './directories.ts';
import { type Engine, startEmbeddedEngine } from './dynamodb/engine.ts';
import { loadRestApi } from './gateway/rest-api.ts';
import { createHttpServer, type Service } from './http-server.ts';
import type { LambdaFunctions, Log } from './lambda/lambda-functions.ts';
import { loadFunctions } from './lambda/load-functions.ts';
import { closeServer, listen, ownHost, urlHost } from './addresses.ts';
import { writeNotice } from './local-server-error.ts';
import { logGroupsIn } from './log-groups.ts';
import type { StartOptions } from './options.ts';
import { loadSampleMonth, prepareData } from './prepare-data.ts';
import { loadSyncSchedule } from './sync-schedule.ts';
import { ServedStack } from './template/stack.ts';
import type { Terminal } from './terminal.ts';

export interface LocalServerOptions extends Pick<StartOptions, 'host' | 'port' | 'sampleData' | 'assembly'> {
  /** Directory of data and logs; in memory without one. */
  readonly dataDirectory: string | undefined;
  /** Follows saves of the sources, unless the assembly exists; called when the server has to be started again. */
  readonly watch?: (() => void) | undefined;
  /** Shows requests and errors; without one they are only logged. */
  readonly terminal?: Terminal | undefined;
}

export type LocalServer = Awaited<ReturnType<typeof startLocalServer>>;

/**
 * Runs the service on this machine from its synthesized template.
 *
 * @param starting the engine; its thread may have started before this module was loaded
 * @throws LocalServerError if the template, the data directory, the engine or the address cannot be used
 */
export async function startLocalServer(
  options: LocalServerOptions,
  starting = startEmbeddedEngine(options.dataDirectory),
) {
  const closings = new AsyncDisposableStack();
  closings.defer(async () => (await starting).close());
  try {
    return await start(options, starting, closings);
  } catch (error) {
    // Report the failure of the start, not those of closing after it.
    await closings.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function start(options: LocalServerOptions, starting: Promise<Engine>, closings: AsyncDisposableStack) {
  // First, to detect a port in use early, and to pass the server's address to the functions.
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, options.host, options.terminal);
  closings.defer(() => closeServer(server));
  const [address, engine] = await Promise.all([listen(server, options.host, options.port), starting]);

  const temporary = temporaryDirectory(closings);
  let functions: LambdaFunctions | undefined;
  const sources =
    options.watch && !options.assembly && watchSources(temporary, () => functions?.reload(), options.watch);
  if (sources) closings.defer(sources.stop);
  const synthesized = sources ? await sources.first : readAssembly(options.assembly ?? (await assemble(temporary)));
  const origin = `http://${urlHost(options.host)}:${address.port}`;
  const stack = new ServedStack(synthesized.name, synthesized.template, origin);
  const logDirectory = makeDirectory(options.dataDirectory ?? temporary, 'logs');
  const logToFile = logGroupsIn(logDirectory);
  const log: Log = (group, text) => {
    logToFile(group, text);
    options.terminal?.log(text);
  };
  const gateway = `http://${ownHost(address)}:${address.port}`;
  functions = loadFunctions(stack, synthesized, engine, gateway, log);
  closings.defer(() => functions?.stop());
  const documents = documentsOf(engine, closings);
  const records = new GatewayRecords(documents);
  const restApi = loadRestApi(stack, functions.byArn, records);
  await prepareData(stack, documents, records, options);
  const schedule = loadSyncSchedule(stack, functions.byArn, (line) => log('key-sync', line));
  closings.defer(() => schedule.close());
  const { fetch } = createControlPlane(records, schedule.runSoon);
  const controlPlane = getRequestListener(fetch, { overrideGlobalObjects: false });
  const keys: Readonly<Record<PlanId, string>> = demoKeys;
  const shared = { engineEndpoint: engine.endpoint, outputs: outputsAt(origin, stack) };
  service.resolve({ restApi, controlPlane, ...shared });
  if (options.sampleData) {
    // Its writes would delay the start.
    const loaded = loadSampleMonth(stack, documents).catch((error: unknown) => writeNotice(messageOf(error)));
    closings.defer(() => loaded);
  }
  return {
    /** With the stage: `http://localhost:3000/v1`. */
    baseUrl: `${origin}/${restApi.stage}`,
    keys,
    /** Deleted at the end if data is in memory. */
    logDirectory,
    records,
    ...shared,
    close: async (): Promise<void> => {
      // Responses in progress need all the rest.
      await closeServer(server);
      await closings.disposeAsync();
    },
  };
}

function documentsOf({ endpoint }: Engine, closings: AsyncDisposableStack): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...localClient, endpoint: endpoint.href });
  closings.defer(() => client.destroy());
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** The stack's outputs, with the server's address in place of API Gateway's on AWS. */
const outputsAt = (origin: string, { outputs }: ServedStack): Record<string, string> =>
  Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, value.replace(/^https:\/\/\w+\.execute-api\.[^/]+/, origin)]),
  );
