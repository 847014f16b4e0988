import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { Tables } from './tables.ts';

/** Nightly copies elsewhere. Point-in-time recovery alone is lost with the account or the region. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, tables: Tables, copyTo: string) {
    super(scope, id);
    const deleteAfter = Duration.days(35);
    const destinationBackupVault = BackupVault.fromBackupVaultArn(this, 'CopyTo', copyTo);
    const scheduleExpression = Schedule.cron({ hour: '1', minute: '0' });
    const copyActions = [{ destinationBackupVault, deleteAfter }];
    const nightly = new BackupPlanRule({ scheduleExpression, deleteAfter, copyActions });
    const plan = new BackupPlan(this, 'Plan', { backupPlanRules: [nightly] });
    const resources = tables.all.map((table) => BackupResource.fromDynamoDbTable(table));
    plan.addSelection('Tables', { resources });
  }
}
