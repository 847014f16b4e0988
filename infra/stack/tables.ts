import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ITable,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { type StageSettings, type TableName, tableNames } from '../stages.ts';

/** A table of the stack, or a restored one. (`Table` is no `ITable` to TypeScript's `exactOptionalPropertyTypes`.) */
type ServiceTable = Table | ITable;

interface Schema {
  readonly partitionKey: Attribute;
  readonly sortKey?: Attribute;
  readonly timeToLiveAttribute?: string;
}

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

const schemas: Readonly<Record<TableName, Schema>> = {
  /** Stock levels: one item per pet, in petId order. */
  stock: { partitionKey: string('storeId'), sortKey: number('petId') },
  /** API keys with their limits and counters: one item per key, found by the handle of its tokens. */
  keys: { partitionKey: string('recordId'), timeToLiveAttribute: 'purgeAt' },
  /** Records of the pets: one item per pet. */
  pets: { partitionKey: number('petId') },
  /** Orders: one item each, in the order of their ids. */
  orders: { partitionKey: string('storeId'), sortKey: number('orderId') },
  /** Updates with an Idempotency-Key and their answers, for a day. */
  requests: { partitionKey: string('requestId'), timeToLiveAttribute: 'expiresAt' },
};

/** How `replacedTables` names the table of the stack. */
const OWN = 'own';

/**
 * The DynamoDB tables. No names are given, so that a table can be replaced by a restored one beside it: whatever uses a
 * table then uses that one. The table it replaces stays in the stack, and is kept, until an admin has decided about it.
 */
export class Tables extends Construct {
  readonly #used = new Map<TableName, ServiceTable>();
  readonly #replaced = new Map<TableName, ServiceTable>();

  /** @throws Error where the name of a restored table cannot be one */
  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);
    for (const name of tableNames) this.#add(name, settings);
  }

  /** The name of the table to use. */
  nameOf(name: TableName): string {
    return this.#used.get(name)?.tableName ?? '';
  }

  /** What may be used in the place of a table: beside itself the one in use until now, which running versions have. */
  arnsOf(name: TableName): string[] {
    return [this.#used.get(name), this.#replaced.get(name)].flatMap((table) => table?.tableArn ?? []);
  }

  #add(name: TableName, settings: StageSettings): void {
    const { retainData, restoredTables = {}, replacedTables = {}, keysWarmThroughput } = settings;
    const [restored, replaced] = [restoredTables[name], replacedTables[name]];
    const isKept = retainData || restored !== undefined;
    const id = name.charAt(0).toUpperCase() + name.slice(1);
    const own = new Table(this, id, {
      ...schemas[name],
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...(name === 'keys' && keysWarmThroughput && { warmThroughput: keysWarmThroughput }),
      deletionProtection: isKept,
      removalPolicy: isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const named = (prefix: string, table: string): ITable =>
      Table.fromTableName(this, `${prefix}${id}`, checkedName(name, table));
    this.#used.set(name, restored === undefined ? own : named('Restored', restored));
    if (replaced === undefined) return;
    if (replaced === (restored ?? OWN))
      throw new Error(`replacedTables.${name} must be another table than the one in use`);
    this.#replaced.set(name, replaced === OWN ? own : named('Replaced', replaced));
  }
}

/** An empty name, or an ARN, would be found out by a deploy only, when it has already begun. */
function checkedName(table: TableName, restored: string): string {
  if (/^[\w.-]{3,255}$/.test(restored)) return restored;
  throw new Error(`A restored table of ${table} must be the name of a DynamoDB table, not "${restored}"`);
}
