import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { NEVER } from '../../../shared/keys/key-record.ts';
import { HostError } from '../host-error.ts';
import type { Engine } from './engine.ts';
import { createTables, type TableSettings } from './tables.ts';

/** Has one item: which host uses the engine, until when, and which state of API Gateway its tables belong to. */
const table: TableSettings = {
  TableName: 'pet-store-local-host',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
};

/** A claim is renewed every second, and ends five seconds after its host was killed. */
const RENEWAL_MS = 1_000;
const CLAIM_MS = 5_000;

/** Keeps other hosts off an engine for as long as this one uses it. */
export class EngineClaim {
  /** Of the state that the tables belong to; undefined where they are new. */
  stateId: string | undefined;
  readonly #client: DynamoDBDocumentClient;
  readonly #engine: Engine;
  readonly #holder = randomUUID();
  #timer: NodeJS.Timeout | undefined;

  private constructor(client: DynamoDBDocumentClient, engine: Engine) {
    this.#client = client;
    this.#engine = engine;
  }

  /** @throws HostError where another host uses the engine */
  static async make(client: DynamoDBDocumentClient, engine: Engine): Promise<EngineClaim> {
    await createTables(client, [table]);
    const claim = new EngineClaim(client, engine);
    const { Attributes } = await claim.#hold(CLAIM_MS);
    claim.stateId = Attributes?.['stateId'] && String(Attributes['stateId']);
    if (!engine.isEmbedded) claim.#timer = setInterval(() => void claim.#renew(), RENEWAL_MS).unref();
    return claim;
  }

  /** Makes the tables those of a state. */
  async setStateId(id: string): Promise<void> {
    await this.#update({ UpdateExpression: 'SET stateId = :id', ExpressionAttributeValues: { ':id': id } });
  }

  /** Lets the next host have the engine immediately. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#hold(0).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    await this.#hold(CLAIM_MS).catch((error: unknown) => {
      // An engine that is unavailable is reported by the requests that need it.
      if (error instanceof HostError) throw error;
    });
  }

  /** An embedded engine ends with its host, and its store has a lock of its own: an older claim in it is over. */
  async #hold(forMs: number) {
    const { isEmbedded, endpoint } = this.#engine;
    const now = Date.now();
    const values = { ':holder': this.#holder, ':until': isEmbedded ? NEVER : now + forMs };
    try {
      return await this.#update({
        UpdateExpression: 'SET holder = :holder, heldUntil = :until',
        ConditionExpression: 'attribute_not_exists(holder) OR holder = :holder OR heldUntil <= :now',
        ExpressionAttributeValues: { ...values, ':now': isEmbedded ? NEVER : now },
      });
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const [origin, seconds] = [endpoint.origin, CLAIM_MS / 1_000];
      throw new HostError(
        `Another host uses the DynamoDB engine at ${origin}. Stop it; if it was killed, start again in ${seconds} seconds.`,
      );
    }
  }

  #update(input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
    const { TableName } = table;
    return this.#client.send(new UpdateCommand({ TableName, Key: { id: 'claim' }, ReturnValues: 'ALL_NEW', ...input }));
  }
}
