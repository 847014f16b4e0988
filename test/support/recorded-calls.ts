import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export interface Call {
  readonly command: string | undefined;
  /** What DynamoDB charges for it. */
  readonly consumed: unknown;
  /** Items that a Query may look at. */
  readonly limit?: unknown;
  /** Items that it has looked at. */
  readonly scanned?: number | undefined;
}

/** The calls that the client makes from now on, with what each consumes. */
export function recordCalls(client: DynamoDBDocumentClient): Call[] {
  const calls: Call[] = [];
  client.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const answer = await next(args);
      const consumed = 'ConsumedCapacity' in answer.output ? answer.output.ConsumedCapacity : undefined;
      const scanned = 'ScannedCount' in answer.output ? answer.output.ScannedCount : undefined;
      const limit = 'Limit' in args.input ? args.input.Limit : undefined;
      const ofQuery = scanned === undefined ? {} : { limit, scanned };
      calls.push({ command: context.commandName, consumed, ...ofQuery });
      return answer;
    },
    { step: 'initialize' },
  );
  return calls;
}

export interface WriteCount {
  /** UpdateItem calls so far. One whose condition was false is as dear as one that was done, and counts too. */
  readonly writes: number;
}

/** Counts the writes that the client makes from now on. */
export function countWrites(client: DynamoDBDocumentClient): WriteCount {
  const count = { writes: 0 };
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'UpdateItemCommand') count.writes += 1;
        return next(args);
      },
    { step: 'initialize' },
  );
  return count;
}
