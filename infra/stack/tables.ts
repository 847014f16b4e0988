import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { type StageSettings, type TableName, tableNames } from '../stages.ts';
import { pascalCase } from './pascal-case.ts';

type Schema = Pick<dynamodb.TableProps, 'partitionKey' | 'sortKey' | 'timeToLiveAttribute'>;

const string = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.STRING });
const number = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.NUMBER });

const schemas: Readonly<Record<TableName, Schema>> = {
  /** Stock levels: one item per pet, in petId order. */
  stock: { partitionKey: string('storeId'), sortKey: number('petId') },
  /** API keys with their limits and counters: one item per key, by the handle of its tokens. */
  keys: { partitionKey: string('recordId'), timeToLiveAttribute: 'purgeAt' },
  /** Records of the pets: one item per pet. */
  pets: { partitionKey: number('petId') },
  /** Orders: one item each, in the order of their ids. */
  orders: { partitionKey: string('storeId'), sortKey: number('orderId') },
  /** Idempotency records: updates with an Idempotency-Key and their responses, for a day. */
  requests: { partitionKey: string('requestId'), timeToLiveAttribute: 'ttl' },
  /** Who changed a key: one item per change, by the key's record and its revision, for 400 days. */
  history: { partitionKey: string('recordId'), sortKey: number('revision'), timeToLiveAttribute: 'ttl' },
  /** Admitted and refused requests: one item per key and UTC day, and one for all keys together, for 400 days. */
  usage: { partitionKey: string('recordId'), sortKey: string('day'), timeToLiveAttribute: 'ttl' },
  /** Who changed the stock of a pet: one item per write of its entry, by time and version, for 400 days. */
  changes: { partitionKey: number('petId'), sortKey: string('change'), timeToLiveAttribute: 'ttl' },
};

/** The DynamoDB tables. A changed logical id would create an empty table (tables.test.ts). */
export class Tables extends Construct {
  readonly #tables: Readonly<Record<TableName, dynamodb.Table>>;

  constructor(scope: Construct, id: string, settings: Pick<StageSettings, 'retainData' | 'stockEvents'>) {
    super(scope, id);
    const { retainData, stockEvents } = settings;
    const made = tableNames.map((name) => [
      name,
      new dynamodb.Table(this, pascalCase(name), {
        ...schemas[name],
        billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        deletionProtection: retainData,
        // Can change without replacing the table.
        ...(name === 'stock' && stockEvents && { stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES }),
        removalPolicy: retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      }),
    ]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one for each of the names
    this.#tables = Object.fromEntries(made) as Record<TableName, dynamodb.Table>;
  }

  get all(): readonly dynamodb.Table[] {
    return Object.values(this.#tables);
  }

  nameOf(name: TableName): string {
    return this.#tables[name].tableName;
  }

  arnOf(name: TableName): string {
    return this.#tables[name].tableArn;
  }

  get stock(): dynamodb.Table {
    return this.#tables.stock;
  }
}
