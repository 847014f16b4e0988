import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { deployCommand } from '../../../infra/deploy/main.ts';
import { capture, type Outcome } from '../../support/admin-command.ts';
import { fakeProgram } from '../../support/programs.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { close, listen } from '../../support/listening.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();
const calls = path.join(directory, 'calls');

/** Programs in the place of those that the command calls: each writes down how it was called. */
const programs = {
  cdk: `
if [ "$1" = synth ]; then cp -rl "$SYNTHESIZED_SERVICE/." "$5"; fi
if [ "$1" = deploy ]; then
  stage=\${2%/*}
  [ $stage = production ] || page='"CloudFrontUrl":"https://page",'
  echo '{"'$stage'-Inventory":{'$page'"GatewayUrl":"https://aws/v1","BaseUrl":"https://api/v1"}}' > "$6"
fi`,
  node: `
case "$*" in *create*) echo '{"id":"smokekey","token":"psk_smoke"}' ;; *smoke/main*) test "$PET_STORE_API_KEY" = psk_smoke ;; esac`,
};
for (const [name, script] of Object.entries(programs))
  fakeProgram(
    directory,
    name,
    `echo "$(basename "$0") $*" >> ${calls}${script} && case "$*" in $FAILS) exit 2 ;; esac`,
  );
// The suite is to be the same before and after a commit.
fakeProgram(
  directory,
  'git',
  'case "$*" in *status*) echo "$CHANGES" ;; *merge-base*HEAD\\ c3) ;; *merge-base*) exit 1 ;; *) echo 4a7c ;; esac',
);

export const forgetCalls = (): void => writeFileSync(calls, '');

/** How the programs were called since `forgetCalls`, in order. */
export const called = (): string[] =>
  readFileSync(calls, 'utf8')
    .replaceAll(/\S*\/assembly-\w+/g, 'FOLDER')
    .split('\n')
    .slice(0, -1);

export const staging = inventoryTemplate('staging');
export const made = { 'staging-Inventory': 'UPDATE_COMPLETE' };

export const USER_ARN = 'arn:aws:iam::111122223333:user/ann';

interface Account {
  stacks: Record<string, string>;
  /** The status of a stack once `cdk deploy` has run. */
  statusAfter: string | undefined;
  template: object;
  outputs: Record<string, string>;
  /** The events of the stacks, the newest first. */
  events: Record<string, string>[];
  canceled: string[];
  assumed: string[];
  /** When the tables were made that the stack has now and no commit here; the stack was updated at noon. */
  createdAt: string;
}

const initial = (): Account => ({
  stacks: made,
  statusAfter: undefined,
  template: staging,
  outputs: {},
  events: [],
  canceled: [],
  assumed: [],
  createdAt: '2026-11-20T11:00:00Z',
});

/** What the account has that AWS answers for. Each test begins with staging alone. */
export const account: Account = initial();
beforeEach(() => {
  forgetCalls();
  Object.assign(account, initial());
});

/** As XML; a list has members. */
function xml(value: string | readonly object[] | object): string {
  if (typeof value === 'string') return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  if (Array.isArray(value)) return value.map((one) => `<member>${xml(one)}</member>`).join('');
  return Object.entries(value)
    .map(([name, part]) => `<${name}>${xml(part)}</${name}>`)
    .join('');
}

/** The result of a call, without what its callers do not read; undefined for an unknown stack. */
function resultOf(call: URLSearchParams): object | undefined {
  const { stacks, statusAfter, outputs, events, template, createdAt } = account;
  const [action, name] = [call.get('Action') ?? '', call.get('StackName') ?? ''];
  const { [name]: status } = stacks;
  const isDeployed = called().some((line) => line.startsWith('cdk deploy'));
  const StackStatus = (isDeployed && statusAfter) || status;
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  const results: Record<string, object | false> = {
    GetCallerIdentity: { Account: '111122223333', Arn: USER_ARN },
    AssumeRole: { Credentials: { AccessKeyId: 'ASIA', SecretAccessKey: 's', SessionToken: 't' } },
    DescribeStacks: StackStatus !== undefined && {
      Stacks: [{ StackStatus, LastUpdatedTime: '2026-11-20T12:00:00Z', Outputs }],
    },
    DescribeStackEvents: { StackEvents: events },
    DescribeStackResource: {
      StackResourceDetail: { ResourceStatus: 'CREATE_COMPLETE', LastUpdatedTimestamp: createdAt },
    },
    GetTemplate: status !== undefined && { TemplateBody: JSON.stringify(template) },
    CancelUpdateStack: status?.includes('PROGRESS') === true && {},
  };
  const result = results[action] || undefined;
  account.assumed.push(...call.getAll('RoleArn'));
  if (action === 'CancelUpdateStack' && result) {
    account.canceled.push(name);
    account.stacks = { ...stacks, [name]: 'UPDATE_ROLLBACK_COMPLETE' };
  }
  return result;
}

const server = createServer((request, response) => {
  void text(request).then((body) => {
    // The CDK CLI asks the Systems Manager for the version of the bootstrap.
    if (body.startsWith('{')) return response.end('{"Parameter":{"Value":"30"}}');
    const call = new URLSearchParams(body);
    const action = call.get('Action');
    const result = resultOf(call);
    if (result) return response.end(xml({ [`${action}Response`]: { [`${action}Result`]: result } }));
    const Message = `Stack with id ${call.get('StackName')} does not exist`;
    return response.writeHead(400).end(xml({ ErrorResponse: { Error: { Code: 'ValidationError', Message } } }));
  });
});
let origin: string;
beforeAll(async () => {
  origin = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => close(server));

type Environment = Readonly<Record<string, string | undefined>>;

/** For a program that is to find this account. */
export const environment = (): Environment => ({
  AWS_ENDPOINT_URL: origin,
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
});

/** `npm run deploy -- …` in this process, with this account; only what it calls is a process of its own. */
export async function deploy(words: readonly string[], env: Environment = {}): Promise<Outcome> {
  acceptForeignErrors();
  const PATH = `${directory}:${process.env['PATH']}`;
  const changes = { ...environment(), PATH, ...env };
  const outside = Object.fromEntries(Object.keys(changes).map((name) => [name, process.env[name]]));
  setEnvironment(changes);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const exitCode = await deployCommand(words).finally(() => {
    for (const { end } of [stdout, stderr]) end();
    setEnvironment(outside);
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

function setEnvironment(env: Environment): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
