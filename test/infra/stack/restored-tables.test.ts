import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { tableNames } from '../../../infra/stages.ts';
import { runModule } from '../../support/module-process.ts';
import { synthesizeRestored } from '../../support/restored-tables.ts';
import { synthesizedStages, text, withoutHash } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const templateSchema = v.looseObject({
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: v.optional(v.unknown()) })),
  Outputs: v.record(v.string(), v.looseObject({ Value: v.unknown() })),
});
type Template = v.InferOutput<typeof templateSchema>;

const policySchema = v.object({
  PolicyDocument: v.object({
    Statement: v.array(v.object({ Action: v.unknown(), Resource: v.unknown() })),
  }),
});
const resources = v.union([
  v.array(text),
  v.pipe(
    text,
    v.transform((one) => [one]),
  ),
]);

/** What each policy lets a role do, as text; in the order of the template. */
function grantsOf({ Resources }: Template): string[] {
  return Object.entries(Resources)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Policy')
    .flatMap(([id, { Properties }]) =>
      v
        .parse(policySchema, Properties)
        .PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
          (v.is(resources, Resource) ? v.parse(resources, Resource) : [JSON.stringify(Resource)]).map(
            (resource) =>
              `${id} ${JSON.stringify(Action)} ${resource.replace(/(?<=Tables\w+)[0-9A-F]{8}\.Arn/, '.Arn')}`,
          ),
        ),
    );
}

const arn = (name: string): string => `arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/${name}`;
const title = (table: string): string => table.charAt(0).toUpperCase() + table.slice(1);
const isTable = ([, { Type }]: [string, { Type: string }]): boolean => Type === 'AWS::DynamoDB::Table';

/** A stage of which two tables were restored. */
describe('restored tables', () => {
  const folder = temporaryFolder();
  const usual = v.parse(templateSchema, synthesizedStages().staging.template);
  let template: Template;

  beforeAll(() => {
    synthesizeRestored(folder, { stock: 'stock-of-friday', requests: 'requests-of-friday' });
    template = v.parse(templateSchema, readAssembly(folder, 'staging').template);
  }, 30_000);

  test.each(['Stock', 'Requests'])('replace the table %s for everything that refers to it', (table) => {
    const others = Object.entries(template.Resources).filter((entry) => !isTable(entry));
    const mentions = (value: unknown): boolean => JSON.stringify(value).includes(`"Tables${table}`);

    expect(Object.entries(usual.Resources).filter((entry) => !isTable(entry) && mentions(entry[1]))).not.toEqual([]);
    expect([...others, ...Object.entries(template.Outputs)].filter(([, value]) => mentions(value))).toEqual([]);
  });

  test('give the functions their names, and the outputs', () => {
    const environments = JSON.stringify(Object.values(template.Resources).map(({ Properties }) => Properties));

    expect(environments.match(/"STOCK_TABLE":"stock-of-friday"/g)).toHaveLength(3);
    expect(environments.match(/"REQUESTS_TABLE":"requests-of-friday"/g)).toHaveLength(1);
    expect(template.Outputs.StockTableName?.Value).toBe('stock-of-friday');
  });

  test('may be used as the others were, by their exact ARNs', () => {
    const expected = grantsOf(usual).map((grant) =>
      grant.replace('TablesStock.Arn', arn('stock-of-friday')).replace('TablesRequests.Arn', arn('requests-of-friday')),
    );

    expect(grantsOf(template)).toEqual(expected);
    expect(expected).toContainEqual(expect.stringContaining(arn('stock-of-friday')));
  });

  test.each(tableNames)('leave the table %s of the stack where it is; one that is replaced is kept', (table) => {
    const isReplaced = ['stock', 'requests'].includes(table);
    const tableOf = ({ Resources }: Template) =>
      Object.entries(Resources).find((entry) => isTable(entry) && withoutHash(entry[0]) === `Tables${title(table)}`);
    const [id, resource] = tableOf(template) ?? [];
    const [usualId, usualResource] = tableOf(usual) ?? [];

    expect(id).toBe(usualId);
    expect(resource).toMatchObject({
      DeletionPolicy: isReplaced ? 'Retain' : 'Delete',
      UpdateReplacePolicy: isReplaced ? 'Retain' : 'Delete',
      Properties: { ...Object(usualResource?.Properties), DeletionProtectionEnabled: isReplaced },
    });
  });

  test.each(['', 'arn:aws:dynamodb:eu-central-1:1:table/t'])('must have a name, which %j is not', (name) => {
    const tablesOnly = `
      const [, root, name] = process.argv;
      const { Stack } = await import('aws-cdk-lib');
      const { Tables } = await import(root + '/infra/stack/tables.ts');
      new Tables(new Stack(), 'Tables', { retainData: true, restoredTables: { keys: name } });
    `;
    expect(() => runModule(tablesOnly, name)).toThrow('restoredTables.keys must be the name of a DynamoDB table');
  });
});
