import type { Resource } from '../../infra/local/template/stack.ts';

type TableResource = Resource<'AWS::DynamoDB::Table'>;
type KeyType = 'S' | 'N';

/** A key by the names and types of its attributes: the partition key, and the sort key if there is one. */
export type TableKey = Readonly<Record<string, KeyType>>;

export interface TableIndex {
  readonly name: string;
  readonly key: TableKey;
  readonly projection?: 'ALL' | 'KEYS_ONLY';
}

const keySchema = (key: TableKey) =>
  Object.keys(key).map((AttributeName, index) => ({
    AttributeName,
    KeyType: index === 0 ? ('HASH' as const) : ('RANGE' as const),
  }));

/** A table of a template. */
export function tableResource(ref: string, key: TableKey, ...indexes: readonly TableIndex[]): TableResource {
  const attributes: TableKey = Object.assign({}, key, ...indexes.map((index) => index.key));
  return {
    logicalId: ref,
    ref,
    properties: {
      AttributeDefinitions: Object.entries(attributes).map(([AttributeName, AttributeType]) => ({
        AttributeName,
        AttributeType,
      })),
      KeySchema: keySchema(key),
      GlobalSecondaryIndexes: indexes.map(({ name, key: indexKey, projection = 'ALL' }) => ({
        IndexName: name,
        KeySchema: keySchema(indexKey),
        Projection: { ProjectionType: projection },
      })),
      TimeToLiveSpecification: undefined,
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: false,
      PointInTimeRecoverySpecification: undefined,
      SSESpecification: undefined,
    },
  };
}
