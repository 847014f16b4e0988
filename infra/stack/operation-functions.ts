import { Duration } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../stages.ts';
import { ServiceFunction } from './service-function.ts';
import type { ServiceTable, Tables } from './tables.ts';

export interface OperationFunctionsProps extends Pick<StageSettings, 'petDeprecation' | 'logRetentionDays'> {
  readonly tables: Tables;
  /** Usage identifier that refused requests are metered as. */
  readonly overflowIdentifier: string;
  /** Usage identifier that requests of keys just issued or moved are metered as. */
  readonly interimIdentifier: string;
  /** Origin of the reference page. */
  readonly pageOrigin: string;
}

/** A list is streamed for as long as it takes; this is the most that a reader may take. */
export const STREAMING_TIMEOUT = Duration.minutes(5);

/**
 * What a list that is streamed leaves behind is collected early, so that memory stays flat: by default V8 lets it grow
 * to a quarter of a gigabyte first. Lambda's Node.js runtime sets other sizes only where these are not given.
 */
export const STREAMING_NODE_OPTIONS = '--max-old-space-size=128 --max-semi-space-size=4';

/** The Lambda functions: the authorizer, one per operation, the fallback. Each may do only what it needs. */
export class OperationFunctions extends Construct {
  readonly authorizer: ServiceFunction;
  readonly fallback: ServiceFunction;
  readonly operations: Record<OperationId, ServiceFunction>;

  /** Every function that a request may reach. */
  get all(): readonly ServiceFunction[] {
    return [this.authorizer, ...Object.values(this.operations), this.fallback];
  }

  constructor(scope: Construct, id: string, props: OperationFunctionsProps) {
    super(scope, id);
    this.authorizer = this.#authorizer(props);
    this.operations = {
      listInventory: this.#listInventory(props),
      updateInventory: this.#updateInventory(props),
      getPet: this.#getPet(props),
      listOrders: this.#listOrders(props),
    };
    this.fallback = new ServiceFunction(this, 'Fallback', {
      entry: 'fallback',
      description: 'Answers 404 and 405 for what is no operation',
      timeout: Duration.seconds(5),
      logRetentionDays: props.logRetentionDays,
      environment: { PAGE_ORIGIN: props.pageOrigin },
    });
  }

  #authorizer({
    tables,
    overflowIdentifier,
    interimIdentifier,
    logRetentionDays,
  }: OperationFunctionsProps): ServiceFunction {
    const authorizer = new ServiceFunction(this, 'Authorizer', {
      entry: 'authorizer',
      description: 'Checks the API key of a request and counts it',
      timeout: Duration.seconds(10),
      logRetentionDays,
      environment: {
        KEYS_TABLE: tables.keys.tableName,
        OVERFLOW_USAGE_IDENTIFIER: overflowIdentifier,
        INTERIM_USAGE_IDENTIFIER: interimIdentifier,
      },
    });
    allow(authorizer, tables.keys, 'UpdateItem');
    return authorizer;
  }

  #listInventory({ tables, pageOrigin, logRetentionDays }: OperationFunctionsProps): ServiceFunction {
    const list = new ServiceFunction(this, 'ListInventory', {
      entry: 'list-inventory',
      description: operations.listInventory.purpose,
      timeout: STREAMING_TIMEOUT,
      logRetentionDays,
      environment: {
        STOCK_TABLE: tables.stock.tableName,
        PAGE_ORIGIN: pageOrigin,
        NODE_OPTIONS: STREAMING_NODE_OPTIONS,
      },
    });
    allow(list, tables.stock, 'Query');
    return list;
  }

  #updateInventory({ tables, pageOrigin, logRetentionDays }: OperationFunctionsProps): ServiceFunction {
    const update = new ServiceFunction(this, 'UpdateInventory', {
      entry: 'update-inventory',
      description: operations.updateInventory.purpose,
      timeout: Duration.seconds(15),
      logRetentionDays,
      environment: {
        STOCK_TABLE: tables.stock.tableName,
        REQUESTS_TABLE: tables.requests.tableName,
        PAGE_ORIGIN: pageOrigin,
      },
    });
    allow(update, tables.stock, 'UpdateItem', 'GetItem');
    allow(update, tables.requests, 'PutItem');
    return update;
  }

  #getPet({ tables, pageOrigin, petDeprecation, logRetentionDays }: OperationFunctionsProps): ServiceFunction {
    const get = new ServiceFunction(this, 'GetPet', {
      entry: 'get-pet',
      description: operations.getPet.purpose,
      timeout: Duration.seconds(15),
      logRetentionDays,
      environment: {
        PETS_TABLE: tables.pets.tableName,
        STOCK_TABLE: tables.stock.tableName,
        PAGE_ORIGIN: pageOrigin,
        DEPRECATED_AT: timeOf(petDeprecation.deprecatedAt),
        SUNSET_AT: timeOf(petDeprecation.sunsetAt),
      },
    });
    allow(get, tables.pets, 'GetItem');
    allow(get, tables.stock, 'GetItem');
    return get;
  }

  #listOrders({ tables, pageOrigin, logRetentionDays }: OperationFunctionsProps): ServiceFunction {
    const list = new ServiceFunction(this, 'ListOrders', {
      entry: 'list-orders',
      description: operations.listOrders.purpose,
      timeout: STREAMING_TIMEOUT,
      logRetentionDays,
      environment: {
        ORDERS_TABLE: tables.orders.tableName,
        PAGE_ORIGIN: pageOrigin,
        NODE_OPTIONS: STREAMING_NODE_OPTIONS,
      },
    });
    allow(list, tables.orders, 'Query');
    return list;
  }
}

type DynamoDBCall = 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem';

/** Lets a function make just these calls; a transaction needs the rights of the writes in it. */
function allow(grantee: ServiceFunction, { tableArn }: ServiceTable, ...calls: readonly DynamoDBCall[]): void {
  Grant.addToPrincipal({ grantee, actions: calls.map((call) => `dynamodb:${call}`), resourceArns: [tableArn] });
}

/** A setting that must be a time. @throws Error where it is none, before anything is deployed */
function timeOf(setting: string): string {
  if (Number.isNaN(Date.parse(setting))) throw new Error(`${JSON.stringify(setting)} is not a time in ISO 8601`);
  return setting;
}
