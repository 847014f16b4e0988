import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { freePort } from './listening.ts';

const PORT_VARIABLE = 'DYNAMODB_LOCAL_PORT';

const EMULATOR = path.join(import.meta.dirname, '../../node_modules/amplify-dynamodb-simulator/emulator');

/** Half of its time to start goes into optimising. */
const STARTS_FAST = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Starts AWS's own engine for all suites, where there is Java. It gets ready by itself, and ends with this process. */
export async function startDynamoDBLocal(): Promise<void> {
  if (spawnSync('java', ['-version']).status !== 0) return;
  const port = String(await freePort());
  const local = ['-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'];
  const java = spawn('java', [...STARTS_FAST, ...local, '-inMemory', '-port', port], {
    cwd: EMULATOR,
    stdio: 'ignore',
  });
  java.unref();
  process.once('exit', () => java.kill('SIGKILL'));
  process.env[PORT_VARIABLE] = port;
}

/** Its port; undefined where there is no Java. */
export function dynamoDBLocalPort(): number | undefined {
  const port = process.env[PORT_VARIABLE];
  return port === undefined ? undefined : Number(port);
}

/** Waits for what listens at a port to be ready. */
export async function untilItAnswers(port: number): Promise<void> {
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  const deadline = Date.now() + 25_000;
  for (;;) {
    try {
      await client.send(new ListTablesCommand({}));
      return client.destroy();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
