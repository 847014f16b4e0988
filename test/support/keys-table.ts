import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { aKey } from './key-records.ts';
import { createKeysTable } from './tables.ts';

/** A keys table as an admin sees it. */
export class KeysTable {
  readonly name: string;
  readonly #client: DynamoDBDocumentClient;

  private constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  static async create(client: DynamoDBDocumentClient): Promise<KeysTable> {
    return new KeysTable(client, await createKeysTable(client));
  }

  /** Puts a key of its own into the table, as {@link aKey} makes it. */
  async issue(differences: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const key = aKey(differences);
    await this.#client.send(new PutCommand({ TableName: this.name, Item: key }));
    return key;
  }

  async read({ keyHash }: KeyRecord): Promise<KeyRecord> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.name, Key: { keyHash }, ConsistentRead: true }),
    );
    return parseKeyRecord(Item);
  }

  async delete({ keyHash }: KeyRecord): Promise<void> {
    await this.#client.send(new DeleteCommand({ TableName: this.name, Key: { keyHash } }));
  }

  async setLimits({ keyHash }: KeyRecord, perMinute: number, perDay: number): Promise<void> {
    await this.#client.send(
      new UpdateCommand({
        TableName: this.name,
        Key: { keyHash },
        UpdateExpression: 'SET perMinute = :perMinute, perDay = :perDay',
        ExpressionAttributeValues: { ':perMinute': perMinute, ':perDay': perDay },
      }),
    );
  }

  async setEnabled({ keyHash }: KeyRecord, enabled: boolean): Promise<void> {
    await this.#client.send(
      new UpdateCommand({
        TableName: this.name,
        Key: { keyHash },
        UpdateExpression: 'SET enabled = :enabled',
        ExpressionAttributeValues: { ':enabled': enabled },
      }),
    );
  }

  async removeAttribute({ keyHash }: KeyRecord, attribute: keyof KeyRecord): Promise<void> {
    await this.#client.send(
      new UpdateCommand({
        TableName: this.name,
        Key: { keyHash },
        UpdateExpression: 'REMOVE #attribute',
        ExpressionAttributeNames: { '#attribute': attribute },
      }),
    );
  }
}
