import type { TranslateConfig } from '@aws-sdk/lib-dynamodb';
import { marshall, type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBClient } from './client-dynamodb.ts';

type Paths = Readonly<Record<'input' | 'output', readonly string[]>>;

/** The paths of values in the input and output of each operation. `*` stands for every name or index. */
const valuePaths = {
  BatchGetItem: { input: ['RequestItems.*.Keys.*.*'], output: ['Responses.*.*.*', 'UnprocessedKeys.*.Keys.*.*'] },
  GetItem: { input: ['Key.*'], output: ['Item.*'] },
  PutItem: { input: ['Item.*'], output: [] },
  Query: { input: ['ExclusiveStartKey.*', 'ExpressionAttributeValues.*'], output: ['Items.*.*', 'LastEvaluatedKey.*'] },
  TransactWriteItems: {
    input: ['TransactItems.*.*.Item.*', 'TransactItems.*.*.Key.*', 'TransactItems.*.*.ExpressionAttributeValues.*'],
    output: [],
  },
  UpdateItem: { input: ['Key.*', 'ExpressionAttributeValues.*'], output: ['Attributes.*'] },
} satisfies Readonly<Record<string, Paths>>;

type Operation = keyof typeof valuePaths;

const commandOf = (operation: Operation) =>
  class {
    readonly operation = operation;
    readonly input: object;

    constructor(input: object) {
      this.input = input;
    }
  };

export const BatchGetCommand = commandOf('BatchGetItem');
export const GetCommand = commandOf('GetItem');
export const PutCommand = commandOf('PutItem');
export const QueryCommand = commandOf('Query');
export const TransactWriteCommand = commandOf('TransactWriteItems');
export const UpdateCommand = commandOf('UpdateItem');

/** The document client of `@aws-sdk/lib-dynamodb`, around ours. AWS's code converts the values. */
export const DynamoDBDocumentClient = {
  from: (client: DynamoDBClient, { unmarshallOptions }: TranslateConfig) => ({
    async send({ operation, input }: InstanceType<typeof GetCommand>): Promise<object> {
      const paths: Paths = valuePaths[operation];
      const options = { convertWithoutMapWrapper: true, ...unmarshallOptions };
      const body = convertAt(paths.input, input, (value) => marshall(value, { convertTopLevelContainer: true }));
      return client.call(operation, body, (output) =>
        convertAt(paths.output, output, (value) => unmarshall(value, options)),
      );
    },
  }),
};

type Convert = (value: NativeAttributeValue) => unknown;

const convertAt = (paths: readonly string[], data: object, convert: Convert): object =>
  paths.map((path) => path.split('.')).reduce<object>((converted, path) => within(converted, path, convert), data);

/** A copy of the data with the values at the path converted. Undefined ones stay undefined, which JSON omits. */
function within(data: object, [step, ...rest]: readonly string[], convert: Convert): object {
  const convertOne = (value: NativeAttributeValue): unknown => {
    if (value === undefined) return undefined;
    return rest.length > 0 ? within(value, rest, convert) : convert(value);
  };
  if (Array.isArray(data)) return data.map(convertOne);
  const entries = Object.entries(data).map(([name, value]) => [
    name,
    step === '*' || step === name ? convertOne(value) : value,
  ]);
  return Object.fromEntries(entries);
}
