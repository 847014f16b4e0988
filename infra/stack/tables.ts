import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ITable,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { StageSettings, TableName } from '../stages.ts';

export interface TablesProps extends Pick<StageSettings, 'restoredTables' | 'replacedTables'> {
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
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
  /** Updates with an Idempotency-Key and their answers, for a day. */
  readonly requests: ServiceTable;

  readonly #replaced = new Map<ServiceTable, ServiceTable>();

  /** @throws Error where the name of a restored table cannot be one */
  constructor(scope: Construct, id: string, props: TablesProps) {
    super(scope, id);
    this.stock = this.#add('stock', props, keyed(string('storeId'), number('petId')));
    this.keys = this.#add('keys', props, { ...keyed(string('keyHash')), timeToLiveAttribute: 'purgeAt' });
    this.pets = this.#add('pets', props, keyed(number('petId')));
    this.orders = this.#add('orders', props, keyed(string('storeId'), number('orderId')));
    this.requests = this.#add('requests', props, { ...keyed(string('requestId')), timeToLiveAttribute: 'expiresAt' });
  }

  /** What may be used in the place of a table: beside itself the one in use until now, which running versions have. */
  arnsOf(table: ServiceTable): string[] {
    const replaced = this.#replaced.get(table);
    return [table, ...(replaced ? [replaced] : [])].map(({ tableArn }) => tableArn);
  }

  /** Adds a table. @returns the one to use, which is another where it was restored */
  #add(
    name: TableName,
    { retainData, restoredTables = {}, replacedTables = {} }: TablesProps,
    schema: Schema,
  ): ServiceTable {
    const restored = restoredTables[name];
    const isKept = retainData || restored !== undefined;
    const id = name.charAt(0).toUpperCase() + name.slice(1);
    const own = new Table(this, id, {
      ...schema,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isKept,
      removalPolicy: isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const used = restored === undefined ? own : Table.fromTableName(this, `Restored${id}`, checkedName(name, restored));
    const replaced = replacedTables[name];
    if (replaced === (restored ?? OWN))
      throw new Error(`replacedTables.${name} must be another table than the one in use`);
    if (replaced === OWN) this.#replaced.set(used, own);
    else if (replaced !== undefined) {
      this.#replaced.set(used, Table.fromTableName(this, `Replaced${id}`, checkedName(name, replaced)));
    }
    return used;
  }
}

/** How `replacedTables` names the table of the stack. */
const OWN = 'own';

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

const keyed = (partitionKey: Attribute, sortKey?: Attribute): Schema =>
  sortKey ? { partitionKey, sortKey } : { partitionKey };

/** An empty name, or an ARN, would be found out by a deploy only, when it has already begun. */
function checkedName(table: TableName, restored: string): string {
  if (/^[\w.-]{3,255}$/.test(restored)) return restored;
  throw new Error(`A restored table of ${table} must be the name of a DynamoDB table, not "${restored}"`);
}
