import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from './listening.ts';
import { synthesizeForAllSuites } from './synthesize-once.ts';

const modules = join(import.meta.dirname, '../../node_modules');

/** What all suites share, because it takes seconds: the synthesized service, and AWS's DynamoDB engine. */
export default async function beforeAllSuites(): Promise<void> {
  // Hundreds of processes that the suites start load the same modules. Node keeps what it has compiled in this folder.
  process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache/node-compile');
  // Suites of `npm test -- --fast` need neither.
  if (process.env.FAST_TESTS !== undefined) return;
  await startDynamoDBLocal();
  synthesizeForAllSuites();
}

/** Half of its time to start goes into optimizing. */
const STARTS_FAST = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Starts AWS's own engine, where there is Java. It gets ready by itself, and ends with this process. */
async function startDynamoDBLocal(): Promise<void> {
  if (spawnSync('java', ['-version']).status !== 0) {
    process.stderr.write('Skipped: tests on DynamoDB Local: there is no java on the PATH\n');
    return;
  }
  const port = String(await freePort());
  const local = ['-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'];
  const java = spawn('java', [...STARTS_FAST, ...local, '-inMemory', '-port', port], {
    cwd: join(modules, 'amplify-dynamodb-simulator/emulator'),
    stdio: 'ignore',
  });
  java.unref();
  process.once('exit', () => java.kill('SIGKILL'));
  process.env.DYNAMODB_LOCAL_PORT = port;
}
