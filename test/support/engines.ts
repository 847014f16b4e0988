import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, jest } from '@jest/globals';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleInto } from '../../infra/stack/bundle.ts';
import { engineAt } from './listening.ts';
import { newClient } from './store-client.ts';
import { HANG_MS, until } from './until.ts';

const { DYNAMODB_LOCAL_PORT: localPort } = process.env;

/** Every store is tested on both engines, where the machine has Java. */
export const engines: readonly (readonly [name: string, start: () => Promise<Engine>])[] = [
  ['dynalite', () => startEmbeddedEngine(undefined)],
  ...(localPort === undefined ? [] : [['DynamoDB Local', () => dynamoDBLocal(Number(localPort))] as const]),
];

/** One for all suites, with tables of their own: Java takes seconds to start. */
async function dynamoDBLocal(port: number): Promise<Engine> {
  const endpoint = localEndpoint(port);
  const responses = () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    );
  await until('DynamoDB Local responds', responses);
  return engineAt(endpoint);
}

/**
 * Describes storage code once per engine. `body` finds the engine in the environment, as the SDK does, and gets what
 * makes a client of the functions for the code under test. The clock by which it gives up stands still in a test.
 */
export function describeOnEachEngine(title: string, body: (newClient: () => DynamoDBDocumentClient) => void): void {
  describe.each(engines)(`${title}, on %s`, (_, start) => {
    let engine: Engine | undefined;
    beforeAll(async () => {
      engine = await start();
      pointSdkAt(engine.endpoint);
    });
    beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(Date.now()));
    afterAll(() => engine?.close());
    body(() => clientOfFunctions(PATIENT));
  });
}

export const localEndpoint = (port: number): URL => new URL(`http://127.0.0.1:${port}`);

/** Makes every DynamoDB client created from now on talk to this engine. */
export function pointSdkAt(endpoint: URL): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint.href,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
}

/** The local server's own DynamoDB engine in memory, for the tests around it. Call it where hooks may stand. */
export class EmbeddedDatabase {
  #client: DynamoDBDocumentClient | undefined;

  constructor() {
    let engine: Engine | undefined;
    beforeAll(async () => {
      engine = await startEmbeddedEngine(undefined);
      pointSdkAt(engine.endpoint);
      this.#client = testClient();
    });
    afterAll(async () => {
      this.#client?.destroy();
      await engine?.close();
    });
  }

  get client(): DynamoDBDocumentClient {
    if (!this.#client) throw new Error('The database runs in tests only');
    return this.#client;
  }
}

/**
 * Longer than those of the functions: in a test hundreds of requests share one process, its event loop and its 50
 * sockets, maybe with the engine too. On Lambda each request has a process of its own.
 */
const PATIENT = { connectionTimeout: HANG_MS, requestTimeout: HANG_MS };

/** A client of the SDK itself, with time. */
export const testClient = (): DynamoDBDocumentClient => newClient(PATIENT);

type RequestHandlerSettings = Parameters<typeof newClient>[0];

/**
 * A client as the bundles of the functions have it: of parts of the SDK, whose commands it takes. The settings are
 * those of the HTTP handler.
 */
export function clientOfFunctions(settings: RequestHandlerSettings): DynamoDBDocumentClient {
  const { send } = bundled().newClient(settings);
  const client = {
    send: ({ clientCommand, input }: SdkCommand) => send({ operation: operationOf(clientCommand), input }),
    destroy: () => undefined,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of it that stores use
  return client as unknown as DynamoDBDocumentClient;
}

/** A command of the SDK, as it is made in a test, without its protected parts. */
interface SdkCommand {
  readonly clientCommand: object;
  readonly input: object;
}

interface Bundled {
  readonly newClient: (settings: RequestHandlerSettings) => { readonly send: (command: object) => Promise<object> };
}

/** In a bundle a command knows it; the SDK's own is named after it. */
const operationOf = (clientCommand: object): string => clientCommand.constructor.name.replace(/Command$/, '');

let loaded: Bundled | undefined;

function bundled(): Bundled {
  if (loaded) return loaded;
  const directory = mkdtempSync(path.join(tmpdir(), 'client-'));
  bundleInto(directory, { client: path.join(import.meta.dirname, 'store-client.ts') });
  const module: Bundled = createRequire(import.meta.url)(path.join(directory, 'client', 'function.cjs'));
  rmSync(directory, { recursive: true });
  loaded = module;
  return module;
}

interface Call {
  readonly command: string | undefined;
  readonly input: object;
  /** Empty where the call has failed. */
  output: object;
}

/** The calls that the client makes from now on, with what DynamoDB charges for each. */
export function recordCalls(client: DynamoDBDocumentClient): Call[] {
  const calls: Call[] = [];
  client.middlewareStack.add(
    (next, { commandName: command }) =>
      async (args) => {
        const call: Call = {
          command,
          input: Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' }),
          output: {},
        };
        calls.push(call);
        const response = await next(args);
        call.output = response.output;
        return response;
      },
    { step: 'initialize' },
  );
  return calls;
}
