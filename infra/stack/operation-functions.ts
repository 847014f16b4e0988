import { Duration } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { type StageSettings, type TableName, tableNames } from '../stages.ts';
import { ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';

type DynamoDBCall = 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem';

/** What sets a function apart from the others. */
interface FunctionDefinition {
  /** File in the folder `functions`, without its ending. */
  readonly entry: string;
  readonly description: string;
  /** Of a list that is streamed, by the settings of the stage. */
  readonly timeoutSeconds?: number;
  /** The calls that it may make, and no other; a transaction needs the rights of the writes in it. */
  readonly calls: Readonly<Partial<Record<TableName, readonly DynamoDBCall[]>>>;
}

/** The function of each operation. */
const ofOperations = {
  listInventory: {
    entry: 'list-inventory',
    description: operations.listInventory.purpose,
    calls: { stock: ['Query'] },
  },
  updateInventory: {
    entry: 'update-inventory',
    description: operations.updateInventory.purpose,
    timeoutSeconds: 15,
    calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'] },
  },
  getPet: {
    entry: 'get-pet',
    description: operations.getPet.purpose,
    timeoutSeconds: 15,
    calls: { pets: ['GetItem'], stock: ['GetItem'] },
  },
  listOrders: {
    entry: 'list-orders',
    description: operations.listOrders.purpose,
    calls: { orders: ['Query'] },
  },
} as const satisfies Record<OperationId, FunctionDefinition>;

const authorizer: FunctionDefinition = {
  entry: 'authorizer',
  description: 'Checks the API key of a request and counts it',
  timeoutSeconds: 10,
  calls: { keys: ['UpdateItem'] },
};

const fallback: FunctionDefinition = {
  entry: 'fallback',
  description: 'Answers 404 and 405 for what is no operation',
  timeoutSeconds: 5,
  calls: {},
};

/**
 * What a list that is streamed leaves behind is collected early, so that memory stays flat: by default V8 lets it grow
 * to a quarter of a gigabyte first. Lambda's Node.js runtime sets other sizes only where these are not given.
 */
export const STREAMING_NODE_OPTIONS = '--max-old-space-size=128 --max-semi-space-size=4';

export interface OperationFunctionsProps extends Pick<
  StageSettings,
  'allowedOrigins' | 'petDeprecation' | 'logRetentionDays' | 'lists'
> {
  readonly tables: Tables;
  /** Usage identifier that refused requests are metered as. */
  readonly overflowIdentifier: string;
  /** Usage identifier that requests of keys just issued or moved are metered as. */
  readonly interimIdentifier: string;
  /** Origin of the reference page. */
  readonly pageOrigin: string;
}

/** The Lambda functions: the authorizer, one per operation, the fallback. Each may do only what it needs. */
export class OperationFunctions extends Construct {
  readonly authorizer: ServiceFunction;
  readonly fallback: ServiceFunction;
  readonly operations: Readonly<Record<OperationId, ServiceFunction>>;

  /** Every function that a request may reach. */
  get all(): readonly ServiceFunction[] {
    return [this.authorizer, ...Object.values(this.operations), this.fallback];
  }

  constructor(scope: Construct, id: string, props: OperationFunctionsProps) {
    super(scope, id);
    const origins = props.allowedOrigins?.length
      ? { ALLOWED_ORIGINS: [props.pageOrigin, ...props.allowedOrigins.map(originOf)].join(' ') }
      : {};
    const page = { PAGE_ORIGIN: props.pageOrigin, ...origins };
    const list = { ...page, NODE_OPTIONS: STREAMING_NODE_OPTIONS };
    const deprecation = {
      DEPRECATED_AT: timeOf(props.petDeprecation.deprecatedAt),
      SUNSET_AT: timeOf(props.petDeprecation.sunsetAt),
    };
    const meters = {
      OVERFLOW_USAGE_IDENTIFIER: props.overflowIdentifier,
      INTERIM_USAGE_IDENTIFIER: props.interimIdentifier,
    };
    this.authorizer = this.#add('Authorizer', authorizer, props, { ...meters, ...origins });
    this.operations = {
      listInventory: this.#add('ListInventory', ofOperations.listInventory, props, list),
      updateInventory: this.#add('UpdateInventory', ofOperations.updateInventory, props, page),
      getPet: this.#add('GetPet', ofOperations.getPet, props, { ...page, ...deprecation }),
      listOrders: this.#add('ListOrders', ofOperations.listOrders, props, list),
    };
    this.fallback = this.#add('Fallback', fallback, props, page);
  }

  /** Adds a function. Beside its environment it is told the names of the tables that it may use, such as `STOCK_TABLE`. */
  #add(
    id: string,
    { entry, description, timeoutSeconds, calls }: FunctionDefinition,
    { tables, logRetentionDays, lists }: OperationFunctionsProps,
    environment: Readonly<Record<string, string>>,
  ): ServiceFunction {
    const used = tableNames.filter((name) => calls[name]);
    const names = used.map((name) => [`${name.toUpperCase()}_TABLE`, tables[name].tableName]);
    const grantee = new ServiceFunction(this, id, {
      entry,
      description,
      timeout: Duration.seconds(timeoutSeconds ?? lists.seconds),
      ...(timeoutSeconds === undefined && { reservedConcurrentExecutions: lists.concurrency }),
      logRetentionDays,
      environment: { ...Object.fromEntries(names), ...environment },
    });
    for (const name of used) {
      const actions = (calls[name] ?? []).map((call) => `dynamodb:${call}`);
      Grant.addToPrincipal({ grantee, actions, resourceArns: tables.arnsOf(tables[name]) });
    }
    return grantee;
  }
}

/** A setting that must be an origin. @throws Error where it is none, before anything is deployed */
function originOf(setting: string): string {
  if (URL.canParse(setting) && new URL(setting).origin === setting) return setting;
  throw new Error(`${JSON.stringify(setting)} is not an origin such as https://shop.example.com`);
}

/** A setting that must be a time. @throws Error where it is none, before anything is deployed */
function timeOf(setting: string): string {
  if (Number.isNaN(Date.parse(setting))) throw new Error(`${JSON.stringify(setting)} is not a time in ISO 8601`);
  return setting;
}
