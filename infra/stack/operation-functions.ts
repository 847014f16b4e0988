import { Duration, Stack } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { type StageSettings, type TableName, tableNames } from '../stages.ts';
import { ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';
import { internalIdentifier } from './usage-plans.ts';

type DynamoDBCall = 'BatchGetItem' | 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem';

/** Environment variables that functions share, by what they are for. */
type Environments = ReturnType<typeof environmentsOf>;

/** What sets a function apart from the others. */
interface FunctionDefinition {
  readonly description: string;
  /** `streaming`: it sends its answer as it comes, for as long as the stage lets a list take. */
  readonly timeoutSeconds: number | 'streaming';
  /** The calls that it may make, and no other; a transaction needs the rights of the writes in it. */
  readonly calls: Readonly<Partial<Record<TableName, readonly DynamoDBCall[]>>>;
  /** Beside the names of its tables, such as `STOCK_TABLE`. */
  readonly environment?: readonly (keyof Environments)[];
}

type FunctionName = OperationId | 'authorizer' | 'fallback';

/** Each function by its name, which its file in the folder `functions` has in kebab-case. */
const definitions: Readonly<Record<FunctionName, FunctionDefinition>> = {
  authorizer: {
    description: 'Checks the API key of a request and counts it',
    timeoutSeconds: 10,
    calls: { keys: ['UpdateItem'] },
    environment: ['meters'],
  },
  listInventory: {
    description: operations.listInventory.purpose,
    timeoutSeconds: 'streaming',
    calls: { stock: ['Query', 'BatchGetItem'] },
  },
  getInventory: {
    description: operations.getInventory.purpose,
    timeoutSeconds: 15,
    calls: { stock: ['GetItem'] },
  },
  updateInventory: {
    description: operations.updateInventory.purpose,
    timeoutSeconds: 15,
    calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'] },
  },
  updateInventories: {
    description: operations.updateInventories.purpose,
    timeoutSeconds: 15,
    calls: { stock: ['UpdateItem', 'GetItem'] },
  },
  adjustInventory: {
    description: operations.adjustInventory.purpose,
    timeoutSeconds: 15,
    calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'] },
  },
  getPet: {
    description: operations.getPet.purpose,
    timeoutSeconds: 15,
    calls: { pets: ['GetItem'], stock: ['GetItem'] },
    environment: ['deprecation'],
  },
  listOrders: {
    description: operations.listOrders.purpose,
    timeoutSeconds: 'streaming',
    calls: { orders: ['Query'] },
  },
  getKey: { description: operations.getKey.purpose, timeoutSeconds: 5, calls: {} },
  fallback: {
    description: 'Answers 404 and 405 for what is no operation',
    timeoutSeconds: 5,
    calls: {},
  },
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are all there are
const functionNames = Object.keys(definitions) as FunctionName[];

/**
 * What a list that is streamed leaves behind is collected early, so that memory stays flat: by default V8 lets it grow
 * to a quarter of a gigabyte first. Lambda's Node.js runtime sets other sizes only where these are not given.
 */
export const STREAMING_NODE_OPTIONS = '--max-old-space-size=128 --max-semi-space-size=4';

export interface OperationFunctionsProps extends Pick<
  StageSettings,
  'petDeprecation' | 'logRetentionDays' | 'lists' | 'bulksAtOnce'
> {
  readonly tables: Tables;
  /** Origin of the reference page. */
  readonly pageOrigin: string | undefined;
}

/**
 * The operations whose time to answer is watched, each for 1.50 USD a month: the first by an alarm, both by the dashboard. A
 * list takes as long as its reader.
 */
export const timedOperations = ['updateInventory', 'getPet'] as const satisfies readonly OperationId[];

/** Whether a function sends its answer as it comes. */
export const isStreaming = (name: FunctionName): boolean => definitions[name].timeoutSeconds === 'streaming';

/** The Lambda functions: the authorizer, one per operation, the fallback. Each may do only what it needs. */
export class OperationFunctions extends Construct {
  readonly byName: Readonly<Record<FunctionName, ServiceFunction>>;

  /** Those that send their answers as they come. */
  get streaming(): readonly ServiceFunction[] {
    return functionNames.filter(isStreaming).map((name) => this.byName[name]);
  }

  /** Every function that a request may reach. */
  get all(): readonly ServiceFunction[] {
    return Object.values(this.byName);
  }

  constructor(scope: Construct, id: string, props: OperationFunctionsProps) {
    super(scope, id);
    const shared = environmentsOf(Stack.of(this), props);
    const made = functionNames.map((name) => [name, this.#add(name, definitions[name], props, shared)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one for each of the definitions
    this.byName = Object.fromEntries(made) as Record<FunctionName, ServiceFunction>;
  }

  #add(
    name: FunctionName,
    { description, timeoutSeconds, calls, environment = [] }: FunctionDefinition,
    { tables, logRetentionDays, lists, bulksAtOnce, pageOrigin }: OperationFunctionsProps,
    shared: Environments,
  ): ServiceFunction {
    const streams = timeoutSeconds === 'streaming';
    const atOnce = name === 'updateInventories' ? bulksAtOnce : undefined;
    const used = tableNames.filter((table) => calls[table]);
    const variables = [
      Object.fromEntries(used.map((table) => [`${table.toUpperCase()}_TABLE`, tables.nameOf(table)])),
      ...environment.map((one) => shared[one]),
      streams ? { NODE_OPTIONS: STREAMING_NODE_OPTIONS } : {},
      pageOrigin === undefined ? {} : { PAGE_ORIGIN: pageOrigin },
    ];
    const grantee = new ServiceFunction(this, name.charAt(0).toUpperCase() + name.slice(1), {
      entry: name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      description,
      timeout: Duration.seconds(streams ? lists.seconds : timeoutSeconds),
      reservedConcurrentExecutions: streams ? lists.concurrency : atOnce,
      logRetentionDays,
      environment: Object.assign({}, ...variables),
    });
    for (const table of used) {
      const actions = (calls[table] ?? []).map((call) => `dynamodb:${call}`);
      Grant.addToPrincipal({ grantee, actions, resourceArns: [tables.arnOf(table)] });
    }
    return grantee;
  }
}

function environmentsOf(stack: Stack, { petDeprecation }: OperationFunctionsProps) {
  return {
    /** Usage identifiers that refused requests, and those of keys just issued or moved, are metered as. */
    meters: {
      OVERFLOW_USAGE_IDENTIFIER: internalIdentifier(stack, 'Overflow'),
      INTERIM_USAGE_IDENTIFIER: internalIdentifier(stack, 'Interim'),
    },
    deprecation: {
      DEPRECATED_AT: petDeprecation.deprecatedAt,
      SUNSET_AT: petDeprecation.sunsetAt,
    },
  };
}
