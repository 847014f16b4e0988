import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from '@jest/globals';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createEngineServer } from '../../infra/local/dynamodb/engine-server.ts';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import type { DynamoDBParts } from '../../infra/stages.ts';
import { clientWith } from './dynamodb-clients.ts';
import { dynamoDBLocalPort, untilItAnswers } from './dynamodb-local.ts';
import { close, listen } from './listening.ts';

interface RunningEngine {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Something that speaks DynamoDB, and what the stores call it with. */
interface EngineUnderTest {
  readonly name: string;
  readonly dynamodb: DynamoDBParts;
  /** Why this machine cannot run it; undefined where it can. */
  readonly missing: string | undefined;
  readonly start: () => Promise<RunningEngine>;
}

const local = dynamoDBLocalPort();

const noJava = local === undefined ? 'there is no java on the PATH' : undefined;

/** Every store is tested with both clients, and on both engines where the machine can run them. */
const engines: readonly EngineUnderTest[] = [
  { name: 'dynalite', dynamodb: 'parts', missing: undefined, start: startDynalite },
  { name: 'DynamoDB Local', dynamodb: 'whole', missing: noJava, start: () => sharedEngine(local ?? 0) },
  ...(noJava === undefined
    ? []
    : [{ name: 'dynalite', dynamodb: 'whole', missing: undefined, start: startDynalite } as const]),
];

/**
 * Describes storage code once per engine. `body` finds the engine in the environment, as the SDK does, and gets what makes
 * a client of the functions for the code under test.
 */
export function describeOnEachEngine(title: string, body: (newClient: () => DynamoDBDocumentClient) => void): void {
  for (const { name, dynamodb, missing, start } of engines) {
    const describeBody = (): void => body(() => clientWith(dynamodb, PATIENT));
    if (missing !== undefined) {
      process.stderr.write(`Skipped: ${title}, on ${name}: ${missing}\n`);
      // oxlint-disable-next-line jest/no-disabled-tests -- an engine that this machine cannot run
      describe.skip(`${title}, on ${name}`, () => {
        describeBody();
      });
      continue;
    }
    describe(`${title}, on ${name}, with ${dynamodb === 'parts' ? 'parts of the SDK' : 'the whole SDK'}`, () => {
      let running: RunningEngine | undefined;
      beforeAll(async () => {
        running = await start();
        pointSdkAt(localEndpoint(running.port));
      });
      afterAll(() => running?.stop());
      describeBody();
    });
  }
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

async function startDynalite(): Promise<RunningEngine> {
  const server = createEngineServer();
  const port = await listen(server);
  return {
    port,
    stop: async () => {
      server.closeAllConnections();
      await letCallsEnd();
      await close(server);
    },
  };
}

/** dynalite goes on with a call whose client is gone, and crashes where its store was closed meanwhile. */
async function letCallsEnd(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

/** One for all suites, with tables of their own: Java takes seconds to start. */
async function sharedEngine(port: number): Promise<RunningEngine> {
  await untilItAnswers(port);
  return { port, stop: () => Promise.resolve() };
}

/** The local host's own DynamoDB engine in memory, for the tests around it. Call it where hooks may stand. */
export class EmbeddedDatabase {
  #engine: Engine | undefined;
  #client: DynamoDBDocumentClient | undefined;

  constructor() {
    beforeAll(async () => {
      this.#engine = await startEmbeddedEngine(undefined);
      pointSdkAt(this.#engine.endpoint);
      this.#client = testClient();
    });
    afterAll(async () => {
      this.#client?.destroy();
      await this.#engine?.close();
    });
  }

  get client(): DynamoDBDocumentClient {
    if (!this.#client) throw new Error('The database runs in tests only');
    return this.#client;
  }
}

/**
 * Longer than those of the functions: in a test hundreds of requests share one process, its event loop and its 50 sockets,
 * maybe with the engine too. On Lambda each request has a process of its own.
 */
const PATIENT = { connectionTimeout: 20_000, requestTimeout: 20_000, throwOnRequestTimeout: true };

/** The client of the functions with the whole SDK, and time. */
export const testClient = (): DynamoDBDocumentClient => clientWith('whole', PATIENT);

/** Does something with a client of an engine, and stops the engine. */
export async function withEngine<Result>(
  engine: Engine,
  act: (client: DynamoDBClient) => Promise<Result>,
): Promise<Result> {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint.href,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  try {
    return await act(client);
  } finally {
    client.destroy();
    await engine.close();
  }
}
