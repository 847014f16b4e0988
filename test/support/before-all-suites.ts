import { join } from 'node:path';
import { startDynamoDBLocal } from './dynamodb-local.ts';
import { synthesizeForAllSuites } from './synthesize-once.ts';

/** What all suites share, because it takes seconds: the synthesized service, and AWS's DynamoDB engine. */
export default async function beforeAllSuites(): Promise<void> {
  compileOnce();
  await startDynamoDBLocal();
  synthesizeForAllSuites();
}

/** Hundreds of processes that the suites start load the same modules. Node keeps what it has compiled in this folder. */
function compileOnce(): void {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/node-compile');
}
