import { Duration, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';
import type { Tables } from './tables.ts';

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
