import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createEngineServer } from '../../infra/local/dynamodb/engine-server.ts';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { documentClient } from '../../shared/dynamodb.ts';
import { dynamoDBLocalPort, untilItAnswers } from './dynamodb-local.ts';
import { close, listen } from './listening.ts';

interface RunningEngine {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Something that speaks DynamoDB. */
interface EngineUnderTest {
  readonly name: string;
  /** Why this machine cannot run it; undefined where it can. */
  readonly missing: string | undefined;
  readonly start: () => Promise<RunningEngine>;
}

const local = dynamoDBLocalPort();

const engines: readonly EngineUnderTest[] = [
  { name: 'dynalite', missing: undefined, start: startDynalite },
  {
    name: 'DynamoDB Local',
    missing: local === undefined ? 'there is no java on the PATH' : undefined,
    start: () => sharedEngine(local ?? 0),
  },
];

/** Describes storage code once per engine. `body` finds the engine in the environment, as the SDK does. */
export function describeOnEachEngine(title: string, body: () => void): void {
  for (const { name, missing, start } of engines) {
    if (missing !== undefined) {
      process.stderr.write(`Skipped: ${title}, on ${name}: ${missing}\n`);
      // oxlint-disable-next-line jest/no-disabled-tests -- an engine that this machine cannot run
      describe.skip(`${title}, on ${name}`, () => {
        body();
      });
      continue;
    }
    describe(`${title}, on ${name}`, () => {
      let running: RunningEngine | undefined;
      beforeAll(async () => {
        running = await start();
        pointSdkAt(localEndpoint(running.port));
      });
      afterAll(() => running?.stop());
      body();
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
 * The client of the functions, with longer timeouts: in a test hundreds of requests share one process, its event loop and
 * its 50 sockets, maybe with the engine too. On Lambda each request has a process of its own.
 */
export function testClient(): DynamoDBDocumentClient {
  const { translateConfig } = documentClient({ maxAttempts: 1, requestTimeout: 1_000 }).config;
  const client = new DynamoDBClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 20_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
  });
  return DynamoDBDocumentClient.from(client, translateConfig);
}

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
