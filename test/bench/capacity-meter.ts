import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';

/** Capacity units that one table has consumed, by the engine's own account. */
export interface Consumed {
  readonly table: string;
  readonly operation: string;
  readonly units: number;
}

const callSchema = v.looseObject({ TableName: v.optional(v.string()) });

const capacitySchema = v.object({ TableName: v.string(), CapacityUnits: v.number() });

const answerSchema = v.object({
  __type: v.optional(v.string()),
  // A call for several tables tells of each.
  ConsumedCapacity: v.optional(v.union([capacitySchema, v.array(capacitySchema)]), []),
});

/** Stands between the host and a DynamoDB engine, asks for the consumed capacity of every call and keeps it. */
export class CapacityMeter {
  readonly #engine: URL;
  readonly #server: Server;
  readonly #consumed: Consumed[] = [];

  constructor(engine: URL) {
    this.#engine = engine;
    this.#server = createServer((request, response) => void this.#forward(request, response));
  }

  async listen(): Promise<URL> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The meter has no port');
    return new URL(`http://127.0.0.1:${address.port}`);
  }

  /** What was consumed since the last call. */
  take(): Consumed[] {
    return this.#consumed.splice(0);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const call = v.parse(callSchema, JSON.parse((await buffer(request)).toString()));
    const { TableName = '' } = call;
    const isMetered = ['GetItem', 'PutItem', 'UpdateItem', 'TransactWriteItems', 'Query'].includes(operation);
    const answer = await fetch(this.#engine, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': String(request.headers['x-amz-target']),
        'x-amz-date': String(request.headers['x-amz-date']),
        authorization: String(request.headers.authorization),
      },
      body: JSON.stringify(isMetered ? { ...call, ReturnConsumedCapacity: 'TOTAL' } : call),
    });
    const text = await answer.text();
    const { ConsumedCapacity, __type } = v.parse(answerSchema, JSON.parse(text));
    for (const capacity of [ConsumedCapacity].flat()) {
      this.#consumed.push({ table: capacity.TableName, operation, units: capacity.CapacityUnits });
    }
    if (__type?.endsWith('ConditionalCheckFailedException') === true) {
      // No engine tells, but DynamoDB bills the write that was refused, by the size of the item: all of ours are small.
      this.#consumed.push({ table: TableName, operation, units: 1 });
    }
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  }
}
