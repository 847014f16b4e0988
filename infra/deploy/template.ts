import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';

const resourceSchema = v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) });
/** The part of a CloudFormation template that a deploy checks. */
export const templateSchema = v.object({ Resources: v.record(v.string(), resourceSchema) });
type Template = v.InferOutput<typeof templateSchema>;

const tableSchema = v.object({
  KeySchema: v.optional(v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })), []),
  AttributeDefinitions: v.optional(v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })), []),
});

/** Logical ids of deployed tables that another template lacks, or has with other keys. */
export function lostTables(deployed: Template, next: Template): string[] {
  const keysOf = (id: string, { Resources }: Template) => {
    const { Type, Properties } = Resources[id] ?? {};
    const { KeySchema, AttributeDefinitions } = v.parse(tableSchema, Properties ?? {});
    // Other attribute definitions belong to indexes, which change without the table.
    const isKey = (name: string): boolean => KeySchema.some(({ AttributeName }) => AttributeName === name);
    return [Type, KeySchema, AttributeDefinitions.filter(({ AttributeName }) => isKey(AttributeName))];
  };
  const ids = Object.keys(deployed.Resources).filter((id) =>
    /^AWS::DynamoDB::(?:Global)?Table$/.test(deployed.Resources[id]?.Type ?? ''),
  );
  return ids.filter((id) => !isDeepStrictEqual(keysOf(id, deployed), keysOf(id, next)));
}
