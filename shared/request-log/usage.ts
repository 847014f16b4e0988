import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb';

/** What a request has used. */
export interface Usage {
  /** DynamoDB capacity units. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Execution environments that it was the first request of. */
  readonly coldStarts: number;
}

/** What each command consumes. Others, such as DescribeTable, consume nothing. */
const unitsOf: Readonly<Record<string, 'readUnits' | 'writeUnits'>> = {
  GetItemCommand: 'readUnits',
  BatchGetItemCommand: 'readUnits',
  QueryCommand: 'readUnits',
  ScanCommand: 'readUnits',
  PutItemCommand: 'writeUnits',
  UpdateItemCommand: 'writeUnits',
  DeleteItemCommand: 'writeUnits',
};

const unused: Usage = { readUnits: 0, writeUnits: 0, coldStarts: 0 };

/** An execution environment has one event at a time, so what is used here is used for that one. */
let used: Usage = { ...unused, coldStarts: 1 };

/**
 * Asks DynamoDB with every call what it consumes, and sums it up for {@link takeUsage}. A write whose condition is false
 * does not say: it is counted as one unit, which is what it takes with an item of up to 1 kB. Nor does a call whose
 * answer is lost: it is not counted.
 */
export function meterCapacity(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) => {
      const units = unitsOf[commandName];
      return async (args) => {
        if (units === undefined) return next(args);
        try {
          const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
          used = { ...used, [units]: used[units] + capacityOf(answer.output) };
          return answer;
        } catch (error) {
          if (error instanceof ConditionalCheckFailedException) used = { ...used, writeUnits: used.writeUnits + 1 };
          throw error;
        }
      };
    },
    { step: 'initialize', name: 'meterCapacity' },
  );
}

/** What was used since it was last taken. What a list that broke off was still reading counts for the next request. */
export function takeUsage(): Usage {
  const taken = used;
  used = unused;
  return taken;
}

/** DynamoDB tells it of one table, or of several. */
function capacityOf(output: ServiceOutputTypes): number {
  const consumed = 'ConsumedCapacity' in output ? [output.ConsumedCapacity ?? []].flat() : [];
  return consumed.reduce((sum, capacity) => sum + ('CapacityUnits' in capacity ? (capacity.CapacityUnits ?? 0) : 0), 0);
}
