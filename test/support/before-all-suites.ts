import { startDynamoDBLocal } from './dynamodb-local.ts';
import { synthesizeForAllSuites } from './synthesize-once.ts';

/** What all suites share, because it takes seconds: the synthesized service, and AWS's DynamoDB engine. */
export default async function beforeAllSuites(): Promise<void> {
  await startDynamoDBLocal();
  synthesizeForAllSuites();
}
