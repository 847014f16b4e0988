import type { Resource } from '../../infra/local/template/stack.ts';

/** A table of a template. @param key the names and types of its key: the partition key, and the sort key if there is one */
export function tableResource(ref: string, key: Readonly<Record<string, 'S' | 'N'>>): Resource<'AWS::DynamoDB::Table'> {
  return {
    logicalId: ref,
    ref,
    properties: {
      AttributeDefinitions: Object.entries(key).map(([AttributeName, AttributeType]) => ({
        AttributeName,
        AttributeType,
      })),
      KeySchema: Object.keys(key).map((AttributeName, index) => ({
        AttributeName,
        KeyType: index === 0 ? 'HASH' : 'RANGE',
      })),
      BillingMode: 'PAY_PER_REQUEST',
    },
  };
}
