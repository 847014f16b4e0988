import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type GlobalSecondaryIndexProps,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { BY_STATUS } from '../../shared/stores/sorted-table.ts';
import type { StageSettings, TableName } from '../stages.ts';

export interface TablesProps {
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
  /** For each table that was restored from a backup: the name of the new table, which takes its place. */
  readonly restoredTables?: StageSettings['restoredTables'] | undefined;
}

/** A table of the stack, or a restored one. (`Table` is no `ITable` to TypeScript's `exactOptionalPropertyTypes`.) */
export type ServiceTable = Table | ITable;

interface Schema extends Pick<TableProps, 'sortKey' | 'timeToLiveAttribute'> {
  readonly partitionKey: Attribute;
}

/**
 * The DynamoDB tables. No names are given, so that a table can be replaced by a restored one beside it: whatever uses a
 * table then uses that one. The table it replaces stays in the stack, and is kept, until an admin has decided about it.
 */
export class Tables extends Construct implements Readonly<Record<TableName, ServiceTable>> {
  /** Stock levels: one item per pet, in petId order. */
  readonly stock: ServiceTable;
  /** API keys with their limits and counters: one item per key, found by the SHA-256 of the key. */
  readonly keys: ServiceTable;
  /** Records of the pets: one item per pet. */
  readonly pets: ServiceTable;
  /** Orders: one item each, in the order of their ids. */
  readonly orders: ServiceTable;
  /** Requests with an Idempotency-Key and what came of them, for a day. */
  readonly requests: ServiceTable;
  /** What the service keeps to itself: the secret that signs cursors. */
  readonly secrets: ServiceTable;

  /** @throws Error where the name of a restored table cannot be one */
  constructor(scope: Construct, id: string, props: TablesProps) {
    super(scope, id);
    // Keys alone: an update, which changes only the quantity, then costs one write and not two.
    const stockByStatus = { ...byStatus('petId'), projectionType: ProjectionType.KEYS_ONLY };
    this.stock = this.#add('stock', props, keyed(string('storeId'), number('petId')), stockByStatus);
    this.keys = this.#add('keys', props, { ...keyed(string('keyHash')), timeToLiveAttribute: 'purgeAt' });
    this.pets = this.#add('pets', props, keyed(number('petId')));
    const ordersByStatus = { ...byStatus('orderId'), projectionType: ProjectionType.ALL };
    this.orders = this.#add('orders', props, keyed(string('storeId'), number('orderId')), ordersByStatus);
    this.requests = this.#add('requests', props, { ...keyed(string('requestId')), timeToLiveAttribute: 'expiresAt' });
    this.secrets = this.#add('secrets', props, keyed(string('name')));
  }

  /** Adds a table. @returns the one to use, which is another where it was restored */
  #add(
    name: TableName,
    { retainData, restoredTables = {} }: TablesProps,
    schema: Schema,
    index?: GlobalSecondaryIndexProps,
  ): ServiceTable {
    const restored = restoredTables[name];
    const isKept = retainData || restored !== undefined;
    const id = name.charAt(0).toUpperCase() + name.slice(1);
    const table = new Table(this, id, {
      ...schema,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isKept,
      removalPolicy: isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    if (index) table.addGlobalSecondaryIndex(index);
    if (restored === undefined) return table;
    return Table.fromTableAttributes(this, `Restored${id}`, {
      tableName: checkedName(name, restored),
      ...(index && { globalIndexes: [index.indexName] }),
    });
  }
}

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

const keyed = (partitionKey: Attribute, sortKey?: Attribute): Schema =>
  sortKey ? { partitionKey, sortKey } : { partitionKey };

/** The index that a list filtered by status reads, in the order of the table. */
function byStatus(sortKey: string) {
  return {
    indexName: BY_STATUS,
    partitionKey: string('status'),
    sortKey: number(sortKey),
  };
}

/** An empty name, or an ARN, would be found out by a deploy only, when it has already begun. */
function checkedName(table: TableName, restored: string): string {
  if (/^[\w.-]{3,255}$/.test(restored)) return restored;
  throw new Error(`restoredTables.${table} must be the name of a DynamoDB table, not "${restored}"`);
}
