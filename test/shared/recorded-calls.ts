import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

interface Call {
  readonly command: string | undefined;
  /** What DynamoDB charges for it. */
  readonly consumed?: unknown;
  /** Items that a Query may look at. */
  readonly limit?: unknown;
  /** Items that it has looked at. */
  readonly scanned?: number | undefined;
}

/** The calls that the client makes from now on, with what each consumes. One that fails has a command only. */
export function recordCalls(client: DynamoDBDocumentClient): Call[] {
  const calls: Call[] = [];
  client.middlewareStack.add(
    (next, { commandName: command }) =>
      async (args) => {
        Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
        const index = calls.push({ command }) - 1;
        const answer = await next(args);
        const consumed = 'ConsumedCapacity' in answer.output ? answer.output.ConsumedCapacity : undefined;
        const scanned = 'ScannedCount' in answer.output ? answer.output.ScannedCount : undefined;
        const limit = 'Limit' in args.input ? args.input.Limit : undefined;
        calls[index] = { command, consumed, ...(scanned !== undefined && { limit, scanned }) };
        return answer;
      },
    { step: 'initialize' },
  );
  return calls;
}
