import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { reachingDynamoDB } from '../dynamodb.ts';

const secretItemSchema = v.object({ secret: v.instance(Uint8Array) });

const SECRET_BYTES = 32;

/**
 * A random secret that the service makes for itself when it first needs one, and keeps in a table: it is in no
 * template, no environment variable and no log. Deleting the item makes another one.
 */
export class SigningSecret {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #name: string;
  #secret: Promise<Uint8Array> | undefined;

  constructor(client: DynamoDBDocumentClient, tableName: string, name: string) {
    this.#client = client;
    this.#tableName = tableName;
    this.#name = name;
  }

  /** Read once in the life of this object. @throws ServiceError SERVICE_UNAVAILABLE */
  value(): Promise<Uint8Array> {
    this.#secret ??= reachingDynamoDB(this.#readOrMake()).catch((error: unknown) => {
      this.#secret = undefined;
      throw error;
    });
    return this.#secret;
  }

  async #readOrMake(): Promise<Uint8Array> {
    const found = await this.#read();
    if (found) return found;
    const secret = randomBytes(SECRET_BYTES);
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#tableName,
          Item: { name: this.#name, secret },
          ConditionExpression: 'attribute_not_exists(secret)',
        }),
      );
      return secret;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // Another environment was faster.
      const made = await this.#read();
      if (!made) throw error;
      return made;
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { name: this.#name }, ConsistentRead: true }),
    );
    return Item && v.parse(secretItemSchema, Item).secret;
  }
}
