import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './listening.ts';
import { synthesizeForAllSuites } from './synthesize-once.ts';

const modules = join(import.meta.dirname, '../../node_modules');

/** What all suites share, because it takes seconds: the synthesized service, and AWS's DynamoDB engine. */
export default async function beforeAllSuites(): Promise<void> {
  if (process.env.TEST_RUN === undefined)
    throw new Error('The suites need an environment of their own: start them with npm run jest, not with Jest itself.');
  // Suites of `npm test -- --fast` need neither.
  if (process.env.FAST_TESTS !== undefined) return;
  await startDynamoDBLocal();
  synthesizeForAllSuites();
}

const hostsFile = join(tmpdir(), 'hosts');

/** Half of its time to start goes into optimizing. Java does not read TMPDIR, and looks names up in this file alone. */
const javaOptions = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-XX:-UsePerfData',
  `-Djava.io.tmpdir=${tmpdir()}`,
  `-Djdk.net.hosts.file=${hostsFile}`,
];

/** Starts AWS's own engine, where there is Java. It gets ready by itself, and ends with this process. */
async function startDynamoDBLocal(): Promise<void> {
  if (spawnSync('java', ['-XX:-UsePerfData', '-version']).status !== 0) {
    process.stderr.write('Skipped: tests on DynamoDB Local: there is no java on the PATH\n');
    return;
  }
  writeFileSync(hostsFile, '127.0.0.1 localhost\n');
  const port = String(await freePort());
  const local = ['-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'];
  const java = spawn('java', [...javaOptions, ...local, '-inMemory', '-port', port], {
    cwd: join(modules, 'amplify-dynamodb-simulator/emulator'),
    stdio: 'ignore',
  });
  java.unref();
  process.once('exit', () => java.kill('SIGKILL'));
  process.env.DYNAMODB_LOCAL_PORT = port;
}
