import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';

const resourceSchema = v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) });
/** What a deploy looks at of a CloudFormation template. */
export const templateSchema = v.object({ Resources: v.record(v.string(), resourceSchema) });
type Template = v.InferOutput<typeof templateSchema>;

const tableSchema = v.object({
  KeySchema: v.optional(v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })), []),
  AttributeDefinitions: v.optional(v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })), []),
});

/** Tables of the deployed template that another lacks, or has with other keys: by their logical ids. */
export function lostTables(deployed: Template, next: Template): string[] {
  const keysOf = (id: string, { Resources }: Template) => {
    const { Type, Properties } = Resources[id] ?? {};
    const { KeySchema, AttributeDefinitions } = v.parse(tableSchema, Properties ?? {});
    // The definitions of other attributes are those of indexes, which come and go without the table.
    const isKey = (name: string): boolean => KeySchema.some(({ AttributeName }) => AttributeName === name);
    return [Type, KeySchema, AttributeDefinitions.filter(({ AttributeName }) => isKey(AttributeName))];
  };
  const ids = Object.keys(deployed.Resources).filter((id) =>
    /^AWS::DynamoDB::(?:Global)?Table$/.test(deployed.Resources[id]?.Type ?? ''),
  );
  return ids.filter((id) => !isDeepStrictEqual(keysOf(id, deployed), keysOf(id, next)));
}

/** How many functions have to be free: Lambda sets none aside unless 100 stay for all others. */
export function requiredConcurrency({ Resources }: Template): number {
  const reserved = Object.values(Resources).map(({ Properties }) => Properties['ReservedConcurrentExecutions']);
  const sum = reserved.reduce<number>((total, some) => total + Number(some ?? 0), 0);
  return sum && sum + 100;
}
