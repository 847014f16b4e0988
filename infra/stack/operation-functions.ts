import { Duration, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { operations } from '../../shared/contract/operations.ts';
import type { OperationId } from '../../shared/contract/routes.ts';
import type { StageSettings } from '../stages.ts';
import { pascalCase } from './pascal-case.ts';
import { ServiceFunction } from './service-function.ts';
import type { TableCalls, Tables } from './tables.ts';
import { internalIdentifier } from './usage-plans.ts';

type FunctionName = OperationId | 'authorizer' | 'fallback';

/** The settings of one function. */
interface FunctionDefinition {
  /** Seconds, by default 15. `streaming`: it streams its response, up to the stage's max duration of a list. */
  readonly timeoutSeconds?: number | 'streaming';
  readonly calls: TableCalls;
}

/** Each function by its name, in kebab case that of its file in `functions`. */
const definitions: Readonly<Record<FunctionName, FunctionDefinition>> = {
  authorizer: { timeoutSeconds: 10, calls: { keys: ['UpdateItem'] } },
  listInventory: { timeoutSeconds: 'streaming', calls: { stock: ['Query', 'BatchGetItem'] } },
  getInventory: { calls: { stock: ['GetItem'] } },
  updateInventory: { calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'], changes: ['PutItem'] } },
  updateInventories: { calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'], changes: ['PutItem'] } },
  adjustInventory: { calls: { stock: ['UpdateItem', 'GetItem'], requests: ['PutItem'], changes: ['PutItem'] } },
  getPet: { calls: { pets: ['GetItem'], stock: ['GetItem'] } },
  listOrders: { timeoutSeconds: 'streaming', calls: { orders: ['Query'] } },
  getKey: { timeoutSeconds: 5, calls: {} },
  fallback: { timeoutSeconds: 5, calls: {} },
};

const described: Readonly<Record<FunctionName, { readonly purpose: string }>> = {
  ...operations,
  authorizer: { purpose: 'Authenticates and counts requests' },
  fallback: { purpose: 'Returns 404 and 405 for requests without an operation' },
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal has no other keys
const functionNames = Object.keys(definitions) as FunctionName[];

/** Collects garbage of streamed lists early: by default V8 lets the heap grow to a quarter of a gigabyte first. */
export const STREAMING_NODE_OPTIONS = '--max-old-space-size=128 --max-semi-space-size=4';

export interface OperationFunctionsProps extends Pick<StageSettings, 'petDeprecation' | 'lists' | 'batchConcurrency'> {
  readonly tables: Tables;
  /** Origin of the reference page. */
  readonly pageOrigin: string | undefined;
}

/** The operation whose latency is monitored: a list takes as long as its client. */
export const timedOperation = 'updateInventory' satisfies OperationId;

/** Whether a function streams its response. */
export const isStreaming = (name: FunctionName): boolean => definitions[name].timeoutSeconds === 'streaming';

/** The Lambda functions: the authorizer, one per operation, the fallback. Each has minimal permissions. */
export class OperationFunctions extends Construct {
  readonly byName: Readonly<Record<FunctionName, ServiceFunction>>;

  /** Those that stream their responses. */
  get streaming(): readonly ServiceFunction[] {
    return functionNames.filter(isStreaming).map((name) => this.byName[name]);
  }

  /** Every function on the path of a request. */
  get all(): readonly ServiceFunction[] {
    return Object.values(this.byName);
  }

  constructor(scope: Construct, id: string, props: OperationFunctionsProps) {
    super(scope, id);
    const made = functionNames.map((name) => [name, this.#add(name, props)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one for each definition
    this.byName = Object.fromEntries(made) as Record<FunctionName, ServiceFunction>;
  }

  #add(name: FunctionName, props: OperationFunctionsProps): ServiceFunction {
    const { timeoutSeconds = 15, calls } = definitions[name];
    const { lists, batchConcurrency } = props;
    const streams = timeoutSeconds === 'streaming';
    const reservedConcurrency = name === 'updateInventories' ? batchConcurrency : undefined;
    const made = new ServiceFunction(this, pascalCase(name), {
      entry: name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      description: described[name].purpose,
      timeout: Duration.seconds(streams ? lists.seconds : timeoutSeconds),
      reservedConcurrentExecutions: streams ? lists.concurrency : reservedConcurrency,
      environment: this.#environmentOf(name, props),
    });
    props.tables.permit(made, calls);
    return made;
  }

  #environmentOf(name: FunctionName, { pageOrigin, petDeprecation }: OperationFunctionsProps) {
    return {
      // The usage plans of refused requests, and of keys just issued or moved.
      ...(name === 'authorizer' && {
        OVERFLOW_USAGE_IDENTIFIER: internalIdentifier(Stack.of(this), 'Overflow'),
        INTERIM_USAGE_IDENTIFIER: internalIdentifier(Stack.of(this), 'Interim'),
      }),
      ...(name === 'getPet' && { DEPRECATED_AT: petDeprecation.deprecatedAt, SUNSET_AT: petDeprecation.sunsetAt }),
      ...(isStreaming(name) && { NODE_OPTIONS: STREAMING_NODE_OPTIONS }),
      ...(pageOrigin !== undefined && { PAGE_ORIGIN: pageOrigin }),
    };
  }
}
