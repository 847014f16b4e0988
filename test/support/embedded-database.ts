import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from '@jest/globals';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { pointSdkAt } from './engines.ts';
import { patientClient } from './patient-client.ts';

/** The local host's own DynamoDB engine in memory, for the tests around it. Call it where hooks may stand. */
export class EmbeddedDatabase {
  #engine: Engine | undefined;
  #client: DynamoDBDocumentClient | undefined;

  constructor() {
    beforeAll(async () => {
      this.#engine = await startEmbeddedEngine(undefined);
      pointSdkAt(this.#engine.endpoint);
      this.#client = patientClient();
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
