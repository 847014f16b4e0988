import { isDeepStrictEqual } from 'node:util';
import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import * as v from 'valibot';

const attributesSchema = v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() }));
const resourceSchema = v.looseObject({
  Type: v.string(),
  Condition: v.optional(v.string()),
  Properties: v.optional(v.looseObject({ AttributeDefinitions: v.optional(attributesSchema, []) }), {}),
});

/** A CloudFormation template, as far as it matters here. */
export const templateSchema = v.looseObject({ Resources: v.optional(v.record(v.string(), resourceSchema), {}) });
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
 * The tables that a stack has and would lose, by their logical ids, each with what becomes of it.
 *
 * @param after undefined where the app no longer has the stack
 */
export function lostTables(before: Template, after: Template | undefined): Map<string, string> {
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

const listSchema = v.pipe(
  v.unknown(),
  v.transform((value) => (Array.isArray(value) ? value : [value])),
  v.array(v.unknown()),
);
const statementSchema = v.looseObject({ Action: v.optional(listSchema, []), Resource: v.optional(listSchema, []) });
const policySchema = v.object({
  PolicyDocument: v.object({ Statement: v.array(statementSchema) }),
  Roles: v.optional(v.array(v.unknown()), []),
});

/**
 * The functions that a release both changes and narrows: it makes a new version, and takes away a permission or a resource
 * that the old version needs. All versions share one role, and the old one serves until the release is over, and again if
 * it is rolled back. So a permission must go in a later release, which leaves the function unchanged.
 *
 * @returns by logical id, what the old version would lack
 */
export function narrowedFunctions(before: Template, after: Template): Map<string, string> {
  const narrowed = new Map<string, string>();
  for (const [id, { Type, Properties }] of Object.entries(before.Resources)) {
    const next = after.Resources[id];
    if (Type !== 'AWS::Lambda::Function' || !next) continue;
    if (isDeepStrictEqual(versionsOf(id, before), versionsOf(id, after))) continue;
    const kept = new Set(grantsOf(next.Properties['Role'], after));
    const lost = [
      ...grantsOf(Properties['Role'], before).filter((grant) => !kept.has(grant)),
      ...referencesIn(Properties['Environment']).filter(
        (name) => name in before.Resources && !(name in after.Resources),
      ),
    ];
    if (lost.length > 0) narrowed.set(id, `changes, and its version until now would lack ${lost.join(', ')}`);
  }
  return narrowed;
}

/** Their ids change with the code and the configuration of the function. */
const versionsOf = (id: string, { Resources }: Template): string[] =>
  Object.entries(Resources).flatMap(([name, { Type, Properties }]) =>
    Type === 'AWS::Lambda::Version' && isDeepStrictEqual(Properties['FunctionName'], { Ref: id }) ? [name] : [],
  );

/** Everything that a role may do, as `action on resource`. */
function grantsOf(role: unknown, { Resources }: Template): string[] {
  const [roleId] = referencesIn(role);
  return Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy')
    .map(({ Properties }) => v.parse(policySchema, Properties))
    .filter(({ Roles }) => Roles.some((one) => isDeepStrictEqual(one, { Ref: roleId })))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource, ...rest }) =>
      Action.flatMap((action) => Resource.map((one) => `${String(action)} on ${shown(one)}${conditionOf(rest)}`)),
    );
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A grant with another condition is another grant; so is a denial. */
function conditionOf({ Effect, ...rest }: Readonly<Record<string, unknown>>): string {
  return Effect === 'Allow' && Object.keys(rest).length === 0 ? '' : ` with ${JSON.stringify({ Effect, ...rest })}`;
}

/** The logical ids that a value refers to. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === 'Ref') return [String(part)];
    return name === 'Fn::GetAtt' && Array.isArray(part) ? [String(part[0])] : referencesIn(part);
  });
}
