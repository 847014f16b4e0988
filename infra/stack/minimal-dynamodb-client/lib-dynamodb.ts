import type { TranslateConfig } from '@aws-sdk/lib-dynamodb';
import { marshallInput, unmarshallOutput } from '@aws-sdk/lib-dynamodb/dist-es/commands/utils.js';
import type { DynamoDBClient } from './client-dynamodb.ts';

export { BatchGetCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/BatchGetCommand.js';
export { GetCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/GetCommand.js';
export { QueryCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/QueryCommand.js';
export { TransactWriteCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/TransactWriteCommand.js';
export { UpdateCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/UpdateCommand.js';

type KeyNodes = Parameters<typeof marshallInput>[1];

/** A command of `@aws-sdk/lib-dynamodb`, with the paths of values in its input and output. */
interface DocumentCommand {
  readonly clientCommand: { readonly operation: string };
  readonly input: object;
  readonly inputKeyNodes: KeyNodes;
  readonly outputKeyNodes: KeyNodes;
}

/** Its document client, around ours. AWS's code marshals the values. */
export const DynamoDBDocumentClient = {
  from: (client: DynamoDBClient, { unmarshallOptions }: TranslateConfig) => ({
    async send({ clientCommand, input, inputKeyNodes, outputKeyNodes }: DocumentCommand): Promise<object> {
      const values = marshallInput(input, inputKeyNodes, { convertTopLevelContainer: true });
      const output = await client.call(clientCommand.operation, values);
      return unmarshallOutput(output, outputKeyNodes, { convertWithoutMapWrapper: true, ...unmarshallOptions });
    },
  }),
};
