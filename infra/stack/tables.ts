import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';
import { type Attribute, type TableName, tableNames, type TableSchema, tableSchemas } from '../tables.ts';
import { pascalCase } from './pascal-case.ts';

const attributeOf = ({ name, type }: Attribute): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType[type] });

function schemaOf(name: TableName): dynamodb.TableOptions {
  const { partitionKey, sortKey, ...rest }: TableSchema = tableSchemas[name];
  return { partitionKey: attributeOf(partitionKey), ...(sortKey && { sortKey: attributeOf(sortKey) }), ...rest };
}

type DynamoDBCall = 'BatchGetItem' | 'GetItem' | 'PutItem' | 'Query' | 'Scan' | 'UpdateItem';

/** The permitted calls of a function; a transaction requires the permissions of its writes. */
export type TableCalls = Readonly<Partial<Record<TableName, readonly DynamoDBCall[]>>>;

/** The DynamoDB tables. A changed logical id would create an empty table (template.test.ts). */
export class Tables extends Construct {
  readonly #tables: Readonly<Record<TableName, dynamodb.Table>>;

  constructor(scope: Construct, id: string, settings: Pick<StageSettings, 'retainData' | 'stockEvents'>) {
    super(scope, id);
    const { retainData, stockEvents } = settings;
    const made = tableNames.map((name) => [
      name,
      new dynamodb.Table(this, pascalCase(name), {
        ...schemaOf(name),
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

  /** Permits calls to a function, whose environment then names their tables. */
  permit(grantee: Function, calls: TableCalls): void {
    for (const name of tableNames) {
      const actions = (calls[name] ?? []).map((call) => `dynamodb:${call}`);
      if (actions.length === 0) continue;
      Grant.addToPrincipal({ grantee, actions, resourceArns: [this.#tables[name].tableArn] });
      grantee.addEnvironment(`${name.toUpperCase()}_TABLE`, this.nameOf(name));
    }
  }

  get stock(): dynamodb.Table {
    return this.#tables.stock;
  }
}

/** Nightly copies elsewhere. Point-in-time recovery alone is lost with the account or the region. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, tables: Tables, settings: NonNullable<StageSettings['backup']>) {
    super(scope, id);
    const deleteAfter = Duration.days(35);
    // Neither is of the stack: a vault with backups cannot be deleted, and its name cannot be used twice.
    const backupVault = BackupVault.fromBackupVaultName(this, 'Vault', settings.vault);
    const destinationBackupVault = BackupVault.fromBackupVaultArn(this, 'CopyTo', settings.copyTo);
    const scheduleExpression = Schedule.cron({ hour: '1', minute: '0' });
    const copyActions = [{ destinationBackupVault, deleteAfter }];
    const nightly = new BackupPlanRule({ backupVault, scheduleExpression, deleteAfter, copyActions });
    const backupPlanName = Stack.of(this).stackName;
    const plan = new BackupPlan(this, 'Plan', { backupPlanName, backupPlanRules: [nightly] });
    const resources = tables.all.map((table) => BackupResource.fromDynamoDbTable(table));
    plan.addSelection('Tables', { resources });
  }
}
