import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

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
    this.keys = new Table(this, 'Keys', {
      ...everyTable,
      partitionKey: { name: 'keyHash', type: AttributeType.STRING },
    });
  }
}
