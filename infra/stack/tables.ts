import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { BY_STATUS } from '../../shared/stores/sorted-table.ts';

export interface TablesProps {
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
}

/** The DynamoDB tables. No names are given, so that a table can be replaced by a restored one beside it. */
export class Tables extends Construct {
  /** Stock levels: one item per pet, in petId order. */
  readonly stock: Table;
  /** API keys with their limits and counters: one item per key, found by the SHA-256 of the key. */
  readonly keys: Table;
  /** Records of the pets: one item per pet. */
  readonly pets: Table;
  /** Orders: one item each, in the order of their ids. */
  readonly orders: Table;
  /** Requests with an Idempotency-Key and what came of them, for a day. */
  readonly requests: Table;
  /** What the service keeps to itself: the secret that signs cursors. */
  readonly secrets: Table;

  constructor(scope: Construct, id: string, { retainData }: TablesProps) {
    super(scope, id);
    const everyTable = {
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retainData,
      removalPolicy: retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    } satisfies Partial<TableProps>;

    this.stock = new Table(this, 'Stock', {
      ...everyTable,
      partitionKey: { name: 'storeId', type: AttributeType.STRING },
      sortKey: { name: 'petId', type: AttributeType.NUMBER },
    });
    // Keys alone: an update, which changes only the quantity, then costs one write and not two.
    this.stock.addGlobalSecondaryIndex({ ...byStatus('petId'), projectionType: ProjectionType.KEYS_ONLY });

    this.keys = new Table(this, 'Keys', {
      ...everyTable,
      partitionKey: { name: 'keyHash', type: AttributeType.STRING },
    });
    this.pets = new Table(this, 'Pets', {
      ...everyTable,
      partitionKey: { name: 'petId', type: AttributeType.NUMBER },
    });
    this.orders = new Table(this, 'Orders', {
      ...everyTable,
      partitionKey: { name: 'storeId', type: AttributeType.STRING },
      sortKey: { name: 'orderId', type: AttributeType.NUMBER },
    });
    this.orders.addGlobalSecondaryIndex({ ...byStatus('orderId'), projectionType: ProjectionType.ALL });

    this.requests = new Table(this, 'Requests', {
      ...everyTable,
      partitionKey: { name: 'requestId', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    });
    this.secrets = new Table(this, 'Secrets', {
      ...everyTable,
      partitionKey: { name: 'name', type: AttributeType.STRING },
    });
  }
}

/** The index that a list filtered by status reads, in the order of the table. */
function byStatus(sortKey: string) {
  return {
    indexName: BY_STATUS,
    partitionKey: { name: 'status', type: AttributeType.STRING },
    sortKey: { name: sortKey, type: AttributeType.NUMBER },
  };
}
