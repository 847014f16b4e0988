import { Duration, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { BackupSettings } from '../stages.ts';
import type { Tables } from './tables.ts';

/** Nightly copies elsewhere. Point-in-time recovery alone is lost with the account or the region. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, tables: Tables, { vault, copyTo }: BackupSettings) {
    super(scope, id);
    const deleteAfter = Duration.days(35);
    const destinationBackupVault = BackupVault.fromBackupVaultArn(this, 'CopyTo', copyTo);
    const nightly = new BackupPlanRule({
      // Not of the stack: a vault with backups cannot be deleted, and its name cannot be used twice.
      backupVault: BackupVault.fromBackupVaultName(this, 'Vault', vault),
      scheduleExpression: Schedule.cron({ hour: '1', minute: '0' }),
      deleteAfter,
      copyActions: [{ destinationBackupVault, deleteAfter }],
    });
    const backupPlanName = Stack.of(this).stackName;
    const plan = new BackupPlan(this, 'Plan', { backupPlanName, backupPlanRules: [nightly] });
    const resources = tables.all.map((table) => BackupResource.fromDynamoDbTable(table));
    plan.addSelection('Tables', { resources });
  }
}
