import { ResourceImpact, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { attributeTypes, indexesOf, protectionOf } from './table-properties.ts';
import type { Resource, Template } from './template.ts';

/** What a deploy does to a table. `loss`: the service is without its data afterwards, and somebody must have said so. */
export interface TableChange {
  readonly kind: 'loss' | 'warning' | 'note';
  /** Such as `production/Inventory/TablesStock190D1C2E`: the stack and the logical id. */
  readonly table: string;
  /** A sentence without its subject and without a full stop. */
  readonly what: string;
}

type Finding = Omit<TableChange, 'table'>;

const tableTypes: ReadonlySet<string> = new Set(['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable']);
const replacing: ReadonlySet<ResourceImpact> = new Set([ResourceImpact.WILL_REPLACE, ResourceImpact.MAY_REPLACE]);

/** What a deploy does to the tables that a stack has: everything that loses data, or makes that easier. */
export function tableChanges(stack: string, before: Template, after: Template, diff: TemplateDiff): TableChange[] {
  return Object.entries(before.Resources)
    .filter(([, { Type }]) => tableTypes.has(Type))
    .flatMap(([id, table]) =>
      changesOf(table, after.Resources[id], replacedFor(id, diff)).map(({ kind, what }) => ({
        kind,
        table: `${stack}/${id}`,
        what,
      })),
    );
}

/** The tables of a stack that the app no longer has. The CDK leaves such a stack alone. */
export function strandedTables(stack: string, before: Template): TableChange[] {
  return Object.entries(before.Resources)
    .filter(([, { Type }]) => tableTypes.has(Type))
    .map(([id]) => ({
      kind: 'loss',
      table: `${stack}/${id}`,
      what: 'is left behind with its data: the app no longer has its stack',
    }));
}

/** The properties that replace a resource because they change. */
function replacedFor(id: string, diff: TemplateDiff): string[] {
  if (!diff.resources.has(id)) return [];
  return Object.entries(diff.resources.get(id).propertyUpdates)
    .filter(([, { changeImpact }]) => changeImpact !== undefined && replacing.has(changeImpact))
    .map(([name]) => name);
}

function changesOf(before: Resource, after: Resource | undefined, replacedProperties: readonly string[]): Finding[] {
  if (!after) return [loss(removal(before))];
  if (after.Type !== before.Type) return [loss(replacement(before, after, ['Type']))];
  // What the library's database of resource types does not know: see the pages of AWS::DynamoDB::Table.
  const replacedFurther = [
    ...(retypedAttributes(before, after) ? ['AttributeDefinitions'] : []),
    ...(isChanged('LocalSecondaryIndexes', before, after) ? ['LocalSecondaryIndexes'] : []),
  ];
  const reasons = [...new Set([...replacedProperties, ...replacedFurther])];
  return [
    ...(reasons.length > 0 ? [loss(replacement(before, after, reasons))] : []),
    ...(after.Condition !== undefined && after.Condition !== before.Condition
      ? [loss(`is deleted where the condition ${after.Condition} does not hold`)]
      : []),
    ...protectionsTakenAway(before, after),
    ...indexChanges(before, after),
  ];
}

const loss = (what: string): Finding => ({ kind: 'loss', what });

function removal(before: Resource): string {
  if (isKept(before.DeletionPolicy)) return 'is left behind with its data: the stack no longer has it';
  if (protectionOf(before).DeletionProtectionEnabled) {
    return 'is to be deleted with all its data: its deletion protection makes the deploy fail';
  }
  return 'is deleted with all its data';
}

function replacement(before: Resource, after: Resource, reasons: readonly string[]): string {
  const isOldKept = isKept(before.UpdateReplacePolicy) && isKept(after.UpdateReplacePolicy);
  const fate = isOldKept ? 'is left behind with its data' : 'is deleted with all its data';
  return `is replaced by an empty one, for its ${reasons.join(', ')}; the old one ${fate}`;
}

/** CloudFormation deletes what has no policy. */
const isKept = (policy = 'Delete'): boolean => policy !== 'Delete';

/** An attribute that is added is none, so that an index can be added; one that is changed replaces the table. */
function retypedAttributes(before: Resource, after: Resource): boolean {
  const types = attributeTypes(after);
  return [...attributeTypes(before)].some(([name, type]) => types.has(name) && types.get(name) !== type);
}

function isChanged(property: string, before: Resource, after: Resource): boolean {
  return JSON.stringify(before.Properties[property]) !== JSON.stringify(after.Properties[property]);
}

function protectionsTakenAway(before: Resource, after: Resource): Finding[] {
  const [had, has] = [protectionOf(before), protectionOf(after)];
  const policies = (['DeletionPolicy', 'UpdateReplacePolicy'] as const).filter(
    (policy) => isKept(before[policy]) && !isKept(after[policy]),
  );
  return [
    ...policies.map((policy) => `loses its ${policy}: without it, the data goes with the table`),
    ...(had.DeletionProtectionEnabled && !has.DeletionProtectionEnabled ? ['loses its deletion protection'] : []),
    ...(had.PointInTimeRecoveryEnabled && !has.PointInTimeRecoveryEnabled
      ? ['loses its backups: point-in-time recovery is turned off']
      : []),
    ...(has.timeToLive !== undefined && has.timeToLive !== had.timeToLive
      ? [`forgets items from now on: those with a time in ${has.timeToLive} that is over`]
      : []),
  ].map((what) => ({ kind: 'warning', what }));
}

function indexChanges(before: Resource, after: Resource): Finding[] {
  const indexes = indexesOf(after);
  return [...indexesOf(before)]
    .filter(([name, definition]) => indexes.get(name) !== definition)
    .map(([name]) => ({
      kind: 'note',
      what: indexes.has(name)
        ? `has its index ${name} built anew, which loses no data`
        : `loses its index ${name}, which loses no data`,
    }));
}
