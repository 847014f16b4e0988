import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lostTables, requiredConcurrency } from '../../../infra/deploy/template.ts';
import { failureLine, type Outcome, run } from '../../support/admin-command.ts';
import { close, listen } from '../../support/listening.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const staging = inventoryTemplate('staging');
const table = { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [] } };

/** A template with one table, whose key is of a type, and with attributes of indexes. */
const withKey = (AttributeType: string, ...indexed: object[]) => {
  const AttributeDefinitions = [...indexed, { AttributeName: 'id', AttributeType }];
  const Properties = { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions };
  return { Resources: { Stock: { Type: 'AWS::DynamoDB::Table', Properties } } };
};

describe('the template of a commit', () => {
  test('loses the tables that it has not, and those that it has with other keys', () => {
    const [gone, changed] = ['TablesStock190D1C2E', 'TablesKeys6B5A3ABF'];
    const { [gone]: _, ...resources } = inventoryTemplate('staging').Resources;
    Object.assign(resources[changed]?.Properties ?? {}, { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] });

    expect(lostTables(staging, staging)).toEqual([]);
    // Whatever else is gone, such as alarms and versions of functions, is no table.
    expect(lostTables(inventoryTemplate('production'), staging)).toEqual([]);
    expect(lostTables(staging, { Resources: resources }).toSorted()).toEqual([changed, gone]);
  });

  test('may have other indexes on the same keys, but no key of another type', () => {
    const index = { AttributeName: 'status', AttributeType: 'S' };

    expect(lostTables(withKey('S'), withKey('S', index))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('S'))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('N', index))).toEqual(['Stock']);
  });

  test('needs as many functions free as it sets aside, and the 100 that Lambda keeps', () => {
    expect([staging, inventoryTemplate('production')].map(requiredConcurrency)).toEqual([0, 310]);
  });
});

const directory = temporaryDirectory();
const calls = path.join(directory, 'calls');

/** Programs in the place of those that the command calls: each writes down how it was called. */
const programs = {
  cdk: `
if [ "$1" = synth ]; then cp -rl "$SYNTHESIZED_SERVICE/." "$4"; fi
if [ "$1" = deploy ]; then stage=\${2%/*}; echo '{"'$stage'-Inventory":{"GatewayUrl":"https://aws/v1","BaseUrl":"https://api/v1"}}' > "$6"; fi`,
  node: `
case "$*" in *create*) echo '{"id":"smokekey","key":"psk_smoke"}' ;; *smoke/main*) test "$PET_STORE_API_KEY" = psk_smoke ;; esac`,
};
for (const [name, script] of Object.entries(programs)) {
  const file = path.join(directory, name);
  writeFileSync(
    file,
    `#!/bin/sh\necho "$(basename "$0") $*" >> ${calls}${script} && case "$*" in $FAILS) exit 2 ;; esac\n`,
  );
  chmodSync(file, 0o755);
}

// The suite is to be the same before and after a commit.
const git = path.join(directory, 'git');
writeFileSync(git, '#!/bin/sh\ncase "$*" in *status*) echo "$CHANGES" ;; *) echo 4a7c ;; esac\n');
chmodSync(git, 0o755);

const alone = {
  CI: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_DEFAULT_REGION: undefined,
  AWS_PROFILE: undefined,
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  PATH: `${directory}:${process.env['PATH']}`,
};

const called = (): string[] =>
  readFileSync(calls, 'utf8')
    .replaceAll(/\S*\/assembly-\w+/g, 'FOLDER')
    .split('\n')
    .slice(0, -1);

const deploy = (words: readonly string[], env: Readonly<Record<string, string | undefined>> = {}): Promise<Outcome> =>
  run(process.execPath, ['infra/deploy/main.ts', ...words], { ...alone, ...env });

test('The help says what the status is: a deploy to AWS was never seen', async () => {
  expect((await deploy(['--help'])).stdout).toContain(
    'runs locally and on emulators, not yet deployed to an AWS account',
  );
});

test.concurrent.each<[what: string, words: string[], env: Record<string, string | undefined>, line: RegExp]>([
  ['no stage', [], {}, /not specified \(see npm run deploy -- --help\)/],
  [
    'no region',
    ['--stage', 'staging'],
    { AWS_REGION: undefined },
    /No AWS region is set. Set one, such as: export AWS_/,
  ],
  [
    'no credentials',
    ['--stage', 'staging'],
    { AWS_ACCESS_KEY_ID: undefined },
    /With profile default \(AWS_PROFILE is not set\): The call to AWS failed: Could not load credentials from any/,
  ],
  [
    'a profile without credentials',
    ['--stage', 'staging'],
    { AWS_ACCESS_KEY_ID: undefined, AWS_PROFILE: 'ann' },
    /^With profile ann: The call to AWS failed: .* nothing was deployed\.$/,
  ],
  [
    'changes that are in no commit',
    ['--stage', 'staging', '--roll-back'],
    { CHANGES: ' M infra/stages.ts' },
    /Tracked files have changes \(git status\): staging must be deployed from a commit/,
  ],
  [
    'alarms of production that have no recipients',
    ['--stage', 'production'],
    {},
    /^The alarms of production have no recipients: set alarmTargets in .* Nothing was deployed\.$/,
  ],
  [
    'such alarms, before the pipeline begins with staging',
    ['--stage', 'staging'],
    { CI: 'true' },
    /^The alarms of prod/,
  ],
])('Of %s one line says what to do', async (_, words, env, line) => {
  expect(failureLine(await deploy(words, env))).toMatch(line);
});

describe('npm run deploy', () => {
  let server: Server;
  let origin: string;
  /** The stacks of the account, with their statuses. */
  let stacks: Record<string, string>;
  let template: object;
  let canceled: string[];
  /** When the tables were made that the stack has now and no commit here; the stack was updated at noon. */
  let createdAt: string;
  const made = { 'staging-Inventory': 'UPDATE_COMPLETE' };

  const reply = (call: URLSearchParams): string | undefined => {
    const [action, name] = [call.get('Action') ?? '', call.get('StackName') ?? ''];
    const results: Record<string, string | undefined> = {
      GetCallerIdentity: '<Account>111122223333</Account><Arn>arn:ann</Arn>',
      DescribeStacks:
        stacks[name] &&
        `<Stacks><member><StackStatus>${stacks[name]}</StackStatus><LastUpdatedTime>2026-11-20T12:00:00Z</LastUpdatedTime><EnableTerminationProtection>${name.startsWith('production')}</EnableTerminationProtection></member></Stacks>`,
      DescribeStackResource: `<StackResourceDetail><ResourceStatus>CREATE_COMPLETE</ResourceStatus><LastUpdatedTimestamp>${createdAt}</LastUpdatedTimestamp></StackResourceDetail>`,
      GetTemplate: `<TemplateBody>${JSON.stringify(template).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</TemplateBody>`,
      CancelUpdateStack: stacks[name]?.includes('PROGRESS') ? '' : undefined,
    };
    if (action === 'CancelUpdateStack' && results[action] !== undefined) {
      canceled.push(name);
      stacks = { ...stacks, [name]: 'UPDATE_ROLLBACK_COMPLETE' };
    }
    const result = results[action];
    return result === undefined
      ? undefined
      : `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`;
  };

  const respond = (response: ServerResponse, url: string, body: string): void => {
    // An account that is new.
    if (url.includes('account-settings'))
      return void response.end('{"AccountLimit":{"UnreservedConcurrentExecutions":10}}');
    // It was never bootstrapped.
    if (body.startsWith('{"Name":"/cdk-bootstrap/'))
      return void response.writeHead(400).end('{"__type":"ParameterNotFound"}');
    const call = new URLSearchParams(body);
    const missing = `<Code>ValidationError</Code><Message>Stack with id ${call.get('StackName')} does not exist</Message>`;
    const found = reply(call);
    response.writeHead(found === undefined ? 400 : 200, { 'Content-Type': 'text/xml' });
    response.end(found ?? `<ErrorResponse><Error>${missing}</Error></ErrorResponse>`);
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => respond(response, request.url ?? '', body));
    });
    origin = `http://127.0.0.1:${await listen(server)}`;
  });
  afterAll(() => close(server));
  beforeEach(() => {
    writeFileSync(calls, '');
    [stacks, template, canceled, createdAt] = [made, staging, [], '2026-11-20T11:00:00Z'];
  });

  const onAws = (words: string[], env = {}): Promise<Outcome> => deploy(words, { AWS_ENDPOINT_URL: origin, ...env });

  const synth = 'cdk synth --quiet --output FOLDER';
  const ofDeploy = [
    'cdk deploy staging/* --app FOLDER --outputs-file FOLDER/outputs.json --require-approval never',
    'node infra/admin/main.ts keys create --name smoke --plan pro --expires 2h --stage staging --json',
    'node test/smoke/main.ts --url https://aws/v1',
    'node infra/admin/main.ts keys revoke smokekey --yes --stage staging --json',
  ];

  test('deploys what has changed, and tries it with a key that is revoked afterwards', async () => {
    const { exitCode, stdout, stderr } = await onAws(['--stage', 'staging']);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Deployed: https://api/v1\n');
    expect(stdout).not.toContain('psk_');
    expect(called()).toEqual([synth, ...ofDeploy]);
  });

  test('only reads in the smoke test of production', async () => {
    stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };

    expect(await onAws(['--stage', 'production', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(called()).toContain('node test/smoke/main.ts --url https://aws/v1 --read-only');
  });

  test('leaves no key behind where the smoke test fails, and reports that the stage may have changed', async () => {
    const { exitCode, stderr } = await onAws(['--stage', 'staging'], { FAILS: '*smoke/main*' });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Failed: node test/') });
    expect(stderr).toContain('npm run deploy -- --stage staging --roll-back');
    expect(called()).toEqual([synth, ...ofDeploy]);
  });

  test('rolls back all at once after an update was canceled, and loses a table only where its name is given', async () => {
    stacks = { ...made, 'staging-Inventory': 'UPDATE_IN_PROGRESS' };
    template = { Resources: { ...staging.Resources, TablesNotes: table, TablesMore: table } };
    const words = ['--stage', 'staging', '--roll-back'];
    const { exitCode, stderr } = await onAws([...words, '--lose', 'TablesMore']);

    expect(stderr).toMatch(/^staging would lose TablesNotes: .* To deploy anyway: --allow-table-loss TablesNotes\n$/);
    expect({ exitCode, canceled }).toEqual({ exitCode: 1, canceled: ['staging-Inventory'] });
    expect(called()).toEqual([`${synth} --context rollout=allAtOnce`]);
    words.push('--allow-table-loss', 'TablesMore', 'TablesNotes');
    expect(await onAws(words, { FAILS: 'deploy*' })).toMatchObject({ exitCode: 3 });
    expect(called().slice(2)).toEqual(ofDeploy.slice(0, 1));
  });

  test('rolls back without the tables that the release in place has brought', async () => {
    template = { Resources: { ...staging.Resources, TablesMore: table } };
    createdAt = '2026-11-20T12:01:00Z';
    stacks = { 'staging-Inventory': 'CREATE_COMPLETE' };
    expect((await onAws(['--stage', 'staging', '--roll-back'])).stderr).toMatch(/^staging would lose TablesMore: /);
    stacks = made;

    expect(await onAws(['--stage', 'staging', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await onAws(['--stage', 'staging'])).stderr).toMatch(/^staging would lose TablesMore: /);
  });

  test('shows the difference in a dry run, and does nothing else', async () => {
    stacks = { 'staging-Inventory': 'UPDATE_IN_PROGRESS' };
    expect(await onAws(['--stage', 'staging', '--roll-back', '--dry-run'])).toMatchObject({ exitCode: 0, stderr: '' });
    stacks = {};
    expect(await onAws(['--stage', 'staging', '--dry-run'])).toMatchObject({ exitCode: 0, stderr: '' });
    // Neither changes that are in no commit stop it, nor alarms without recipients.
    stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    const changed = await onAws(['--stage', 'production', '--dry-run'], { CHANGES: ' M infra/stages.ts' });
    expect(changed).toMatchObject({ exitCode: 0, stderr: '' });

    const diff = 'cdk diff staging/* --app FOLDER --method template';
    const ofProduction = diff.replace('staging', 'production');
    expect(called()).toEqual([`${synth} --context rollout=allAtOnce`, diff, synth, diff, synth, ofProduction]);
    expect(canceled).toEqual([]);
  });

  test('begins nothing where a first deployment has left a protected stack', async () => {
    stacks = { 'production-Inventory': 'ROLLBACK_COMPLETE', 'staging-Inventory': 'ROLLBACK_COMPLETE' };
    expect((await onAws(['--stage', 'production', '--roll-back'])).stderr).toMatch(
      /^The first deployment of production-Inventory failed, .* --no-enable-termination-protection --stack-name produ/,
    );
    expect(called()).toEqual([]);
    // One that is not protected the CDK deletes.
    expect((await onAws(['--stage', 'staging'])).stderr).toContain('has no CDK bootstrap');
  });

  test('begins nothing in an account that has no bootstrap, or is too small', async () => {
    stacks = { 'staging-Inventory': 'DELETE_FAILED' };
    const { exitCode, stderr } = await onAws(['--stage', 'staging']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^111122223333\/eu-west-1 has no CDK bootstrap\. As an admin, run: npx cdk bootstrap aws:.*1\. Nothing was deployed\./,
      ),
    });
    // A way back is not stopped by what production lacks.
    expect((await onAws(['--stage', 'production', '--roll-back'])).stderr).toMatch(
      /^This account has 10 concurrent executions, and this stage needs 310\./,
    );
    expect(called()).toEqual([synth, `${synth} --context rollout=allAtOnce`]);
  });
});
