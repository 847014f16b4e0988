import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

interface Call {
  readonly command: string | undefined;
  readonly input: object;
  /** Empty where the call has failed. */
  output: object;
}

/** The calls that the client makes from now on, with what DynamoDB charges for each. */
export function recordCalls(client: DynamoDBDocumentClient): Call[] {
  const calls: Call[] = [];
  client.middlewareStack.add(
    (next, { commandName: command }) =>
      async (args) => {
        const call: Call = {
          command,
          input: Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' }),
          output: {},
        };
        calls.push(call);
        const response = await next(args);
        call.output = response.output;
        return response;
      },
    { step: 'initialize' },
  );
  return calls;
}
