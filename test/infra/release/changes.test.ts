import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Outcome, run } from '../../support/admin-command.ts';
import { inventoryTemplate, resourceOf, writeAssembly } from '../../support/service-template.ts';
import { ScriptedServer, type Step } from '../../support/scripted-server.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const replacing = path.join(folder, 'replacing');
const template = inventoryTemplate('production');
const [tableId, stock] = resourceOf(template, 'AWS::DynamoDB::Table', 'TablesStock');
const table = `production-Inventory/${tableId}`;
const allowance = `Replaces-table: ${table}: the stores get numbers`;
const refusal = `Data would be lost, and nothing says that this is meant: ${table}\n`;

beforeAll(() => {
  stock.Properties['KeySchema'] = [{ AttributeName: 'petId', KeyType: 'HASH' }];
  writeAssembly(replacing, 'production', template);
});

/** `npm run changes -- …` in a process of its own, without npm. */
const changes = (words: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  run(process.execPath, ['infra/release/changes.ts', ...words], {
    PULL_REQUEST_DESCRIPTION: undefined,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...env,
  });

describe('npm run changes --against another assembly', () => {
  const words = ['--app', replacing, '--against', synthesizedOnce()];

  test('finds nothing in an equal one', async () => {
    const { exitCode, stdout, stderr } = await changes(['--app', synthesizedOnce(), '--against', synthesizedOnce()]);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^(?:[\w-]+: no changes\n){2,}$/);
    expect(stdout).toContain('production-Inventory: no changes\n');
  });

  test('exits with 1 where a table would be lost, and says how that is allowed', async () => {
    const { exitCode, stdout, stderr } = await changes([...words, '--markdown']);

    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: refusal });
    expect(stdout).toMatch(/^<!-- changes to the deployed stacks -->\n\n`{6}text\nLoss: /);
    expect(stdout).toContain(`Loss: ${table} is replaced by an empty one. Not allowed.\n`);
    expect(stdout).toContain(`: Replaces-table: ${table}: why\n`);
    expect(stdout).toContain('KeySchema (requires replacement)');
  });

  test('lets no text of the pull request end the block that it stands in', async () => {
    const PULL_REQUEST_DESCRIPTION = `${allowance} ${'`'.repeat(13)} and more`;
    const { exitCode, stdout } = await changes([...words, '--markdown'], { PULL_REQUEST_DESCRIPTION });

    expect({ exitCode, fences: stdout.match(/^.*`{6}.*$/gm) }).toEqual({
      exitCode: 0,
      fences: ['``````text', '``````'],
    });
  });

  test('lets it pass where the description of the pull request allows it', async () => {
    const { exitCode, stdout, stderr } = await changes(words, { PULL_REQUEST_DESCRIPTION: allowance });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Allowed: the stores get numbers');
  });
});

const xml =
  (status: number, body: string): Step =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'text/xml' }).end(body);

const awsUser = ({ baseUrl }: ScriptedServer) => ({
  AWS_ENDPOINT_URL: new URL(baseUrl).origin,
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
});

const failure = (status: number, code: string, message: string): Step =>
  xml(
    status,
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  );

describe('npm run changes with what is deployed', () => {
  /** Answers GetTemplate as CloudFormation does. */
  const cloudFormation =
    (bodies: Readonly<Record<string, string>>): Step =>
    (response, request) => {
      const name = new URLSearchParams(request.body).get('StackName') ?? '';
      const body = bodies[name]?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      const step =
        body === undefined
          ? failure(400, 'ValidationError', `Stack with id ${name} does not exist`)
          : xml(
              200,
              `<GetTemplateResponse><GetTemplateResult><TemplateBody>${body}</TemplateBody></GetTemplateResult></GetTemplateResponse>`,
            );
      step(response, request);
    };

  test('asks CloudFormation for each stack, and tells a new one from one that would lose a table', async () => {
    const bodies = { 'production-Inventory': JSON.stringify(inventoryTemplate('production')) };
    const server = await ScriptedServer.start(cloudFormation(bodies));
    const { exitCode, stdout, stderr } = await changes(['--app', replacing, '--markdown'], awsUser(server));

    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: refusal });
    expect(stdout).toMatch(/\nstaging-Inventory: new, with \d+ resources\n/);
    const asked = server.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    for (const StackName of ['production-Inventory', 'staging-Inventory']) {
      expect(asked).toContainEqual(expect.objectContaining({ Action: 'GetTemplate', StackName }));
    }
  });

  test('before a deploy asks for the stacks of its stage alone, and takes the typed name of a table', async () => {
    const bodies = { 'production-Inventory': JSON.stringify(inventoryTemplate('production')) };
    const server = await ScriptedServer.start(cloudFormation(bodies));
    const words = ['--app', replacing, '--stage', 'production', '--lose', 'production-Inventory/Other', table];
    const { exitCode, stdout, stderr } = await changes(words, awsUser(server));

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`Loss: ${table} is replaced by an empty one. Allowed: by its name.\n`);
    const asked = server.requests.map(({ body }) => new URLSearchParams(body).get('StackName'));
    expect(asked).toEqual(['Inventory', 'ReferenceContent', 'ReferenceSite'].map((stack) => `production-${stack}`));
  });

  test('sees that the app has lost the stack with the tables', async () => {
    const renamed = path.join(folder, 'renamed');
    mkdirSync(renamed, { recursive: true });
    const manifest = {
      version: '1.0.0',
      artifacts: {
        Other: {
          type: 'aws:cloudformation:stack',
          environment: 'aws://unknown-account/unknown-region',
          properties: { templateFile: 'Other.template.json' },
        },
      },
    };
    writeFileSync(path.join(renamed, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(path.join(renamed, 'Other.template.json'), '{"Resources":{}}');
    const bodies = { 'production-Inventory': JSON.stringify(inventoryTemplate('production')) };
    const server = await ScriptedServer.start(cloudFormation(bodies));
    const { exitCode, stdout } = await changes(['--app', renamed], awsUser(server));

    expect(exitCode).toBe(1);
    expect(stdout).toContain('production-Inventory: no longer in the app; it stays as it is\n');
    expect(stdout).toContain(`Loss: ${table} is left behind: the app no longer has its stack. Not allowed.`);
  });

  const cannot = 'The deployed template of PipelineAccess cannot be read:';

  test.each<[what: string, step: Step, line: string]>([
    [
      'the permission is missing',
      failure(403, 'AccessDenied', 'User: eve is not authorized to perform: cloudformation:GetTemplate'),
      `${cannot} User: eve is not authorized to perform: cloudformation:GetTemplate (see --against)\n`,
    ],
    [
      'something other than the CDK has deployed it',
      cloudFormation({ PipelineAccess: 'Resources: {}' }),
      `${cannot} Unexpected token 'R', "Resources: {}" is not valid JSON (see --against)\n`,
    ],
  ])('exits with 2 and one line where %s', async (_, step, line) => {
    const server = await ScriptedServer.start(step);

    expect(await changes(['--app', replacing], awsUser(server))).toEqual({ exitCode: 2, stdout: '', stderr: line });
  });
});

test('A folder without an assembly is told in one line', async () => {
  const { exitCode, stdout, stderr } = await changes(['--app', 'infra']);

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/^ENOENT: no such file .*infra\/manifest\.json'?\n$/);
});
