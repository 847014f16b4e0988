import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';

/** Where CloudFormation knows AWS::Budgets (by the schemas of its registry, 2026); anywhere else it takes no such template. */
const REGIONS =
  'us-east-1 us-east-2 us-west-1 us-west-2 ca-central-1 sa-east-1 eu-central-1 eu-west-1 eu-west-2 eu-west-3 ' +
  'ap-south-1 ap-northeast-1 ap-northeast-2 ap-southeast-1 ap-southeast-2';

/** E-mails of AWS when the account has spent 80 % of a sum in a month, and when it is about to spend all of it. */
export class AccountBudget extends Construct {
  constructor(scope: Construct, id: string, { usdAMonth, email }: NonNullable<StageSettings['budget']>) {
    super(scope, id);
    const { CDK_DEFAULT_REGION: region } = process.env;
    if (region !== undefined && !REGIONS.split(' ').includes(region))
      throw new Error(`CloudFormation has no AWS::Budgets in ${region}: leave out budget, and make one in the console`);
    const emailAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    // Without a name: CloudFormation replaces a budget whose subscribers change, which a fixed name would refuse.
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: usdAMonth, unit: 'USD' },
      },
      notificationsWithSubscribers: [emailAt('ACTUAL', 80), emailAt('FORECASTED', 100)],
    });
  }
}
