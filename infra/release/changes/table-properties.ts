import * as v from 'valibot';
import type { Resource } from './template.ts';

/** What cannot be read, such as a value that only the deploy knows, counts as not set. */
const lenient = <Schema extends v.GenericSchema>(schema: Schema, otherwise: v.InferOutput<Schema>) =>
  v.fallback(v.optional(schema, otherwise), otherwise);

const propertiesSchema = v.object({
  AttributeDefinitions: lenient(v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })), []),
  GlobalSecondaryIndexes: lenient(
    v.array(v.object({ IndexName: v.string(), KeySchema: v.unknown(), Projection: v.unknown() })),
    [],
  ),
  DeletionProtectionEnabled: lenient(v.boolean(), false),
  PointInTimeRecoverySpecification: lenient(v.object({ PointInTimeRecoveryEnabled: v.boolean() }), {
    PointInTimeRecoveryEnabled: false,
  }),
  TimeToLiveSpecification: lenient(v.object({ Enabled: v.boolean(), AttributeName: v.string() }), {
    Enabled: false,
    AttributeName: '',
  }),
});

const propertiesOf = (table: Resource): v.InferOutput<typeof propertiesSchema> =>
  v.parse(propertiesSchema, table.Properties);

/** The type of each attribute that is in a key. */
export function attributeTypes(table: Resource): Map<string, string> {
  return new Map(
    propertiesOf(table).AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
  );
}

/** The global secondary indexes by name, each as a text that differs where the index has to be built anew. */
export function indexesOf(table: Resource): Map<string, string> {
  return new Map(
    propertiesOf(table).GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => [
      IndexName,
      JSON.stringify([KeySchema, Projection]),
    ]),
  );
}

/** What keeps the data of a table from getting lost, and the attribute by which it forgets items itself. */
export function protectionOf(table: Resource) {
  const { DeletionProtectionEnabled, PointInTimeRecoverySpecification, TimeToLiveSpecification } = propertiesOf(table);
  return {
    DeletionProtectionEnabled,
    PointInTimeRecoveryEnabled: PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled,
    timeToLive: TimeToLiveSpecification.Enabled ? TimeToLiveSpecification.AttributeName : undefined,
  };
}
