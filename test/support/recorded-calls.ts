import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export interface Call {
  readonly command: string | undefined;
  /** What DynamoDB charges for it. */
  readonly consumed: unknown;
  /** Items that a Query has looked at. */
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
      calls.push({ command: context.commandName, consumed, ...(scanned !== undefined && { scanned }) });
      return answer;
    },
    { step: 'initialize' },
  );
  return calls;
}
