import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { createEngineServer } from '../../infra/local/dynamodb/engine-server.ts';
import { dynamoDBLocalPort, untilItAnswers } from './dynamodb-local.ts';
import { close, listen } from './listening.ts';

interface RunningEngine {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Something that speaks DynamoDB. */
interface Engine {
  readonly name: string;
  /** Why this machine cannot run it; undefined where it can. */
  readonly missing: string | undefined;
  readonly start: () => Promise<RunningEngine>;
}

const local = dynamoDBLocalPort();

const engines: readonly Engine[] = [
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
