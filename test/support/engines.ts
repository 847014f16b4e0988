import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from '@jest/globals';
import dynalite from 'dynalite';
import { close, freePort, listen } from './listening.ts';

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

const hasJava = spawnSync('java', ['-version']).status === 0;

const engines: readonly Engine[] = [
  { name: 'dynalite', missing: undefined, start: startDynalite },
  { name: 'DynamoDB Local', missing: hasJava ? undefined : 'there is no java on the PATH', start: startDynamoDBLocal },
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
        pointSdkAt(running.port);
      });
      afterAll(() => running?.stop());
      body();
    });
  }
}

/** Makes every DynamoDB client created from now on talk to this port. */
export function pointSdkAt(port: number): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
}

async function startDynalite(): Promise<RunningEngine> {
  const server = dynalite({ createTableMs: 0 });
  const port = await listen(server);
  return {
    port,
    stop: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
}

const EMULATOR = path.join(path.dirname(fileURLToPath(import.meta.resolve('amplify-dynamodb-simulator'))), 'emulator');

/** Half of its time to start goes into optimising what a test runs once. */
const STARTS_FAST = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

async function startDynamoDBLocal(): Promise<RunningEngine> {
  const port = await freePort();
  const local = ['-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'];
  const java = spawn('java', [...STARTS_FAST, ...local, '-inMemory', '-port', String(port)], {
    cwd: EMULATOR,
    stdio: 'ignore',
  });
  const exited = once(java, 'exit');
  const stop = async () => {
    java.kill();
    await exited;
  };
  try {
    await untilItAnswers(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

async function untilItAnswers(port: number): Promise<void> {
  pointSdkAt(port);
  const client = new DynamoDBClient({ maxAttempts: 1 });
  const deadline = Date.now() + 25_000;
  for (;;) {
    try {
      await client.send(new ListTablesCommand({}));
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
