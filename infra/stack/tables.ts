import { CfnElement, RemovalPolicy, Stack } from 'aws-cdk-lib';
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
  /** Which table is in use, and which one it replaces: the logical id of one of the stack, the name of a restored one. */
  readonly #inUse: Partial<Record<TableName, string>> = {};
  readonly #replaced: Partial<Record<TableName, string>> = {};

  /** @throws Error where a restored table cannot have its name, or a replaced one is in use */
  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);
    for (const name of tableNames) this.#add(name, settings);
    // For the check before a deploy (infra/release/losses.ts).
    Stack.of(this).templateOptions.metadata = { TablesInUse: this.#inUse, ReplacedTables: this.#replaced };
  }

  /** The name of the table to use. */
  nameOf(name: TableName): string {
    return this.#used.get(name)?.tableName ?? '';
  }

  /** The ARN of the table to use. */
  arnOf(name: TableName): string {
    return this.#used.get(name)?.tableArn ?? '';
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
    const other = restored !== undefined && Table.fromTableName(this, `Restored${id}`, checkedName(name, restored));
    this.#used.set(name, other || own);
    const inUse = restored ?? OWN;
    if (replaced === inUse) throw new Error(`replacedTables.${name} must be another table than the one in use`);
    const named = (table: string): string => (table === OWN ? Stack.of(this).getLogicalId(resourceOf(own)) : table);
    this.#inUse[name] = named(inUse);
    if (replaced !== undefined) this.#replaced[name] = named(replaced);
  }
}

function resourceOf({ node }: Table): CfnElement {
  if (CfnElement.isCfnElement(node.defaultChild)) return node.defaultChild;
  throw new Error(`${node.path} is no resource`);
}

/** An empty name, or an ARN, would be found out by a deploy only, when it has already begun. */
function checkedName(table: TableName, restored: string): string {
  if (/^[\w.-]{3,255}$/.test(restored)) return restored;
  throw new Error(`A restored table of ${table} must be the name of a DynamoDB table, not "${restored}"`);
}
