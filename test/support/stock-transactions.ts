import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  type CancellationReason,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { createTables } from '../../infra/local/dynamodb/tables.ts';
import { tableResource } from './tables.ts';

type Attributes = Record<string, AttributeValue>;
type Options = Partial<TransactWriteItemsCommandInput>;

/** Why a transaction was not made. */
interface Failure {
  readonly name: string;
  readonly message: string;
  readonly reasons: readonly CancellationReason[];
}

/** A pet with a stock of 5, a table of requests, and transactions over both. */
export class StockTransactions {
  readonly client = new DynamoDBClient({ maxAttempts: 1 });
  readonly requests = `requests-${randomUUID()}`;
  readonly #stock = `stock-${randomUUID()}`;
  readonly #petId = { petId: { S: randomUUID() } };

  static async create(): Promise<StockTransactions> {
    const created = new StockTransactions();
    await createTables(created.client, [
      tableResource(created.#stock, { petId: 'S' }),
      tableResource(created.requests, { requestId: 'S' }),
    ]);
    await created.client.send(new PutItemCommand({ TableName: created.#stock, Item: created.stockOf(5) }));
    return created;
  }

  stockOf(quantity: number): Attributes {
    return { ...this.#petId, quantity: { N: String(quantity) }, status: { S: 'available' } };
  }

  /** Records a request, unless it is there. */
  request(requestId: string): TransactWriteItem {
    const Item = { requestId: { S: requestId } };
    const ConditionExpression = 'attribute_not_exists(requestId)';
    const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
    return { Put: { TableName: this.requests, Item, ConditionExpression, ReturnValuesOnConditionCheckFailure } };
  }

  /** Changes the record of a request. */
  requestUpdate(requestId: string): TransactWriteItem {
    const Key = { requestId: { S: requestId } };
    const ExpressionAttributeValues = { ':value': { N: '1' } };
    return { Update: { TableName: this.requests, Key, UpdateExpression: 'SET a = :value', ExpressionAttributeValues } };
  }

  /** Sets the quantity, if it is `expected` now. */
  setting(expected: number, quantity: number, more: object = {}): TransactWriteItem {
    return {
      Update: {
        ...this.update('SET #quantity = :value', String(quantity)),
        ConditionExpression: '#quantity = :expected',
        ExpressionAttributeNames: { '#quantity': 'quantity' },
        ExpressionAttributeValues: { ':value': { N: String(quantity) }, ':expected': { N: String(expected) } },
        ...more,
      },
    };
  }

  /** An update of the pet with the number `:value`, without a condition. */
  update(UpdateExpression: string, value: string) {
    return { ...this.#item, UpdateExpression, ExpressionAttributeValues: { ':value': { N: value } } };
  }

  send(actions: TransactWriteItem[], options: Options = {}): Promise<TransactWriteItemsCommandOutput> {
    return this.client.send(new TransactWriteItemsCommand({ TransactItems: actions, ...options }));
  }

  /** Undefined where the transaction was made. */
  async failure(actions: TransactWriteItem[], options?: Options): Promise<Failure | undefined> {
    try {
      await this.send(actions, options);
      return undefined;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : undefined;
      return { name: error.name, message: error.message, reasons: reasons ?? [] };
    }
  }

  async isRecorded(requestId: string): Promise<boolean> {
    const Key = { requestId: { S: requestId } };
    return (await this.client.send(new GetItemCommand({ TableName: this.requests, Key }))).Item !== undefined;
  }

  /** As it is stored. */
  async stock(): Promise<Attributes | undefined> {
    return (await this.client.send(new GetItemCommand(this.#item))).Item;
  }

  get #item() {
    return { TableName: this.#stock, Key: this.#petId };
  }
}
