import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { patientClient } from './patient-client.ts';

/** A client whose connection can break after a write has arrived: it is done, and its answer is lost. */
export class LossyClient {
  readonly client: DynamoDBDocumentClient = patientClient();
  #writes = 0;
  #isLost: (write: number) => boolean = () => false;

  constructor() {
    this.client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const isLost = commandName === 'UpdateItemCommand' && this.#isLost(++this.#writes);
          const answer = await next(args);
          if (isLost) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
          return answer;
        },
      { step: 'initialize' },
    );
  }

  /** Says to which writes the answers are lost. Those from now on have the numbers from 1 on. */
  lose(isLost: (write: number) => boolean): void {
    this.#writes = 0;
    this.#isLost = isLost;
  }
}
