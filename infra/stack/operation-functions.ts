import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';

export interface OperationFunctionsProps {
  readonly tables: Tables;
  /** Usage identifier that refused requests are metered as. */
  readonly overflowIdentifier: string;
  /** Usage identifier that requests of keys just issued or moved are metered as. */
  readonly interimIdentifier: string;
}

/** The Lambda functions: the authorizer, one per operation, the fallback. Each may do only what it needs. */
export class OperationFunctions extends Construct {
  readonly authorizer: IFunction;
  readonly fallback: IFunction;
  readonly operations: Record<OperationId, IFunction>;

  constructor(
    scope: Construct,
    id: string,
    { tables, overflowIdentifier, interimIdentifier }: OperationFunctionsProps,
  ) {
    super(scope, id);

    this.authorizer = new ServiceFunction(this, 'Authorizer', {
      entry: 'authorizer',
      description: 'Checks the API key of a request and counts it',
      timeout: Duration.seconds(10),
      environment: {
        KEYS_TABLE: tables.keys.tableName,
        OVERFLOW_USAGE_IDENTIFIER: overflowIdentifier,
        INTERIM_USAGE_IDENTIFIER: interimIdentifier,
      },
    });
    tables.keys.grant(this.authorizer, 'dynamodb:UpdateItem', 'dynamodb:GetItem');

    const listInventory = new ServiceFunction(this, 'ListInventory', {
      entry: 'list-inventory',
      description: operations.listInventory.purpose,
      timeout: Duration.seconds(28),
      environment: { STOCK_TABLE: tables.stock.tableName },
    });
    tables.stock.grant(listInventory, 'dynamodb:Query');

    const updateInventory = new ServiceFunction(this, 'UpdateInventory', {
      entry: 'update-inventory',
      description: operations.updateInventory.purpose,
      timeout: Duration.seconds(15),
      environment: { STOCK_TABLE: tables.stock.tableName },
    });
    tables.stock.grant(updateInventory, 'dynamodb:UpdateItem');

    this.operations = { listInventory, updateInventory };

    this.fallback = new ServiceFunction(this, 'Fallback', {
      entry: 'fallback',
      description: 'Answers 404 and 405 for what is no operation',
      timeout: Duration.seconds(5),
    });
  }
}
