import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import * as v from 'valibot';

const attributesSchema = v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() }));
const resourceSchema = v.looseObject({
  Type: v.string(),
  Condition: v.optional(v.string()),
  Properties: v.optional(v.looseObject({ AttributeDefinitions: v.optional(attributesSchema, []) }), {}),
});

const tablesSchema = v.optional(v.record(v.string(), v.string()), {});

/** A CloudFormation template, as far as it matters here; its metadata are those of infra/stack/tables.ts. */
export const templateSchema = v.looseObject({
  Metadata: v.optional(v.looseObject({ TablesInUse: tablesSchema, ReplacedTables: tablesSchema }), {}),
  Resources: v.optional(v.record(v.string(), resourceSchema), {}),
});
export type Template = v.InferOutput<typeof templateSchema>;
type Resource = v.InferOutput<typeof resourceSchema>;

const tableTypes: ReadonlySet<string> = new Set(['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable']);

/** What a deploy does to a resource that loses its data, or leaves it where the service does not see it. */
const losses: Readonly<Partial<Record<ResourceImpact, string>>> = {
  [ResourceImpact.WILL_REPLACE]: 'is replaced by an empty one',
  [ResourceImpact.MAY_REPLACE]: 'may be replaced by an empty one',
  [ResourceImpact.WILL_DESTROY]: 'is deleted',
  [ResourceImpact.WILL_ORPHAN]: 'is left behind: its data stay, but the stack no longer has them',
};

/**
 * The tables that a deploy, forward or back, takes away from the service, each with what becomes of it: by the logical ids
 * of the tables of the stack, and the names of restored ones.
 *
 * @param after undefined where the app no longer has the stack
 */
export const lossesOf = (before: Template, after: Template | undefined): Map<string, string> =>
  new Map([...leftTables(before, after), ...lostTables(before, after)]);

/** The tables in use that the service would leave for others, unless the release says which one it replaces. */
function leftTables(before: Template, after: Template | undefined): Map<string, string> {
  const { TablesInUse = {}, ReplacedTables = {} } = after?.Metadata ?? {};
  const left = Object.entries(before.Metadata.TablesInUse ?? {}).filter(
    ([name, table]) => TablesInUse[name] !== table && ReplacedTables[name] !== table,
  );
  return new Map(
    left.map(([name, table]) => [table, `is no longer used: ${TablesInUse[name] ?? 'none'} takes its place`]),
  );
}

/** The tables that a stack has and would lose. */
function lostTables(before: Template, after: Template | undefined): Map<string, string> {
  const tables = Object.entries(before.Resources).filter(([, { Type }]) => tableTypes.has(Type));
  if (!after) return new Map(tables.map(([id]) => [id, 'is left behind: the app no longer has its stack']));
  const { resources } = fullDiff(before, after);
  const lost = new Map<string, string>();
  for (const [id, table] of tables) {
    const impact = resources.has(id) ? resources.get(id).changeImpact : ResourceImpact.NO_CHANGE;
    const what = losses[impact] ?? furtherLoss(table, after.Resources[id]);
    if (what !== undefined) lost.set(id, what);
  }
  return lost;
}

/** What the library's database of resource types does not know: see the page of AWS::DynamoDB::Table. */
function furtherLoss(before: Resource, after: Resource | undefined): string | undefined {
  if (after?.Condition !== before.Condition) return 'is deleted where its condition does not hold';
  const types = new Map(
    after?.Properties.AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
  );
  const isRetyped = before.Properties.AttributeDefinitions.some(
    ({ AttributeName, AttributeType }) => types.has(AttributeName) && types.get(AttributeName) !== AttributeType,
  );
  const localIndexes = [before, after].map((table) => JSON.stringify(table?.Properties['LocalSecondaryIndexes']));
  return isRetyped || localIndexes[0] !== localIndexes[1] ? losses[ResourceImpact.WILL_REPLACE] : undefined;
}
