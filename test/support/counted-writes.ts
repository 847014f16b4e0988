import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

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
