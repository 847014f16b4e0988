import { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';

export type AccountBudgetProps = NonNullable<StageSettings['budget']>;

/** E-mails of AWS when the account has spent 80 % of a sum in a month, and when it is about to spend all of it. */
export class AccountBudget extends Construct {
  constructor(scope: Construct, id: string, { usdAMonth, email }: AccountBudgetProps) {
    super(scope, id);
    const emailAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetName: Stack.of(this).stackName,
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: usdAMonth, unit: 'USD' },
      },
      notificationsWithSubscribers: [emailAt('ACTUAL', 80), emailAt('FORECASTED', 100)],
    });
  }
}
