import { describe, expect } from '@jest/globals';
import { check, type Run, type Texts } from '../../support/workflow-script.ts';

/** A step of the job that deploys staging. */
const deploy = (name: string, programs: Texts, expected: Run['expected'], env: Texts = {}, files: Texts = {}): Run => ({
  step: ['deploy-stage.yml', 'deploy', name],
  programs,
  env: { STAGE: 'staging', BUILD: '200', ASSEMBLY: 'cdk.out', GO_BACK_TO: '', ...env },
  files,
  expected,
});

const describing = (stack: string) => `cloudformation describe-stacks --stack-name ${stack}`;

describe('the smoke test of a deploy', () => {
  check({
    'has a key for an hour, which is masked before anything else is written': deploy(
      'Issue a key for an hour',
      { npm: `echo '{"id":"k1","key":"psk_0123456789"}'` },
      {
        status: 0,
        stdout: '::add-mask::psk_0123456789\n',
        calls: 'run --silent admin -- keys create --stage staging --name smoke --plan free --expires 1h --json\n',
        output: 'id=k1\nkey=psk_0123456789\n',
      },
    ),
    'asks the stack for the address, which is there after a rollback too': deploy(
      'Find the address',
      { aws: 'echo https://a.example/v1' },
      {
        status: 0,
        calls: `${describing('staging-Inventory')} --output text --query Stacks[0].Outputs[?OutputKey=='BaseUrl'].OutputValue\n`,
        output: 'url=https://a.example/v1\n',
      },
    ),
    'is that of the build': deploy(
      'Smoke test',
      { node: '' },
      { status: 0, calls: 'cdk.out/smoke.mjs --url https://a.example/v1 --read-only\n' },
      { URL: 'https://a.example/v1', OPTIONS: '--read-only' },
    ),
    'after going back, is that of the build before': deploy(
      'Smoke test of the build before',
      { node: '' },
      { status: 0, calls: 'before/smoke.mjs --url https://a.example/v1\n' },
      { URL: 'https://a.example/v1', OPTIONS: '' },
    ),
    'has its key revoked by the id': deploy(
      'Revoke the key',
      { npm: '' },
      { status: 0, calls: 'run --silent admin -- keys revoke k1 --stage staging --yes\n' },
      { KEY_ID: 'k1' },
    ),
  });
});

const running = (OutputValue: string) =>
  `echo '${JSON.stringify({ Stacks: [{ Outputs: [{ OutputKey: 'RunningBuild', OutputValue }] }] })}'`;
const failing = (reason: string) => `echo '${reason}' >&2; exit 254`;
const look = (aws: string, output: string, env: Texts = {}): Run =>
  deploy('Look which build runs', { aws }, { status: output === '' ? 1 : 0, output }, env);

describe('the build that runs before a deploy', () => {
  check({
    'is what the stack says': look(running('100'), 'build=100\n'),
    'is none after a deploy by hand': look(running('none'), 'build=\n'),
    'is none where it is this one': look(running('200'), 'build=\n'),
    'is none before the first deploy': look(failing('Stack with id staging-Inventory does not exist'), 'build=\n'),
    'stops the deploy where it cannot be read': look(failing('AccessDenied'), ''),
    'stops an older deploy that comes late, or is run again': look(running('300'), ''),
    'does not stop a way back where it is newer': look(running('300'), 'build=300\n', { GO_BACK_TO: '200' }),
  });
});

/** `aws`, whose answers about the status of a stack are `states`, one after the other, and then that it is settled. */
const settle = (states: string, calls: readonly string[], ORPHAN = ''): Run =>
  deploy(
    'Settle the stacks',
    {
      aws: `if [ "$2" != describe-stacks ]; then exit; fi
        case $4 in
          *-ReferenceSite) echo 'Stack with id staging-ReferenceSite does not exist' >&2; exit 254 ;;
          *-Inventory) read -r state; echo "\${state:-UPDATE_COMPLETE}" ;;
          *) echo CREATE_COMPLETE ;;
        esac < <(sed --silent "$(grep --count 'describe.*-Inventory' calls)p" states)`,
      npx: '',
      sleep: '',
    },
    { status: 0, calls: expect.stringMatching(new RegExp(`^${calls.map((call) => `.*${call}.*\n`).join('')}$`)) },
    { ORPHAN },
    { states },
  );

describe('before a way back, the stacks are settled:', () => {
  check({
    'a deploy under way is stopped, and waited for': settle('UPDATE_IN_PROGRESS\nUPDATE_ROLLBACK_IN_PROGRESS\n', [
      'staging-ReferenceSite',
      'staging-Inventory',
      'cancel-update-stack --stack-name staging-Inventory',
      '10',
      'staging-Inventory',
      '10',
      'staging-Inventory',
      'staging-ReferenceContent',
    ]),
    'a rollback that is stuck goes on, and leaves alone what it is told to': settle(
      'UPDATE_ROLLBACK_FAILED\n',
      [
        'staging-ReferenceSite',
        'staging-Inventory',
        'cdk rollback --app cdk.out staging/Inventory --orphan=One --orphan=Two',
        '10',
        'staging-Inventory',
        'staging-ReferenceContent',
      ],
      'One Two',
    ),
  });
});

describe('a deploy that would lose a table', () => {
  const guard = 'run --silent changes -- --app cdk.out --stage staging';

  check({
    'is refused': deploy('Refuse to lose a table', { npm: 'exit 1' }, { status: 1, calls: `${guard}\n` }, { LOSE: '' }),
    'is let through by the names of what is lost': deploy(
      'Refuse to lose a table',
      { npm: '' },
      { status: 0, calls: `${guard} --lose staging-Inventory/A staging-Inventory/B\n` },
      { LOSE: 'staging-Inventory/A staging-Inventory/B' },
    ),
  });
});

const cdkDeploy = (assembly: string, build: string) =>
  `cdk deploy --app ${assembly} staging/* --parameters staging-Inventory:BuildId=${build} --require-approval never`;

const guardBack = 'run --silent changes -- --app before/all-at-once --stage staging';

describe('a deploy', () => {
  check({
    'passes the build to the stack': deploy(
      'Deploy',
      { npx: '' },
      { status: 0, calls: `${cdkDeploy('cdk.out', '200')}\n` },
    ),
    'goes back after a failed smoke test, all at once': deploy(
      'Go back',
      { npm: '', npx: '' },
      {
        status: 0,
        calls: `${guardBack}\n${cdkDeploy('before/all-at-once', '100')}\n`,
        stdout: '::error::The smoke test has failed. staging is back at build 100.\n',
      },
      { BEFORE: '100' },
    ),
    'does not go back where that would lose a table': deploy(
      'Go back',
      { npm: 'exit 1', npx: '' },
      {
        status: 1,
        calls: `${guardBack}\n`,
        stdout: expect.stringMatching(/Going back to 100 is refused: 200 still runs/),
      },
      { BEFORE: '100' },
    ),
    'fails where there is nothing to go back to': deploy(
      'Go back',
      { npx: '' },
      {
        status: 1,
        calls: '',
        stdout: '::error::The smoke test has failed. There is no build to go back to: 200 still runs on staging.\n',
      },
      { BEFORE: '' },
    ),
  });
});

/** @param place where the commit of the run is, seen from `main` */
const goBackTo = (RUN: string, found: string, status: number, place = 'behind'): Run => ({
  step: ['roll-back.yml', 'check', 'Check the run'],
  programs: {
    gh: `case $2 in
      repos/a/b/actions/runs/100) echo '${found} 1f00' ;;
      repos/a/b/compare/2e00...1f00) echo '${place}' ;;
    esac`,
  },
  env: { REPOSITORY: 'a/b', RUN, GITHUB_SHA: '2e00' },
  expected: { status, stdout: expect.stringMatching(status === 0 ? /^$/ : /^::error::/) },
});

describe('a roll-back by hand', () => {
  const deployed = '.github/workflows/deploy.yml push main';

  check({
    'goes to a deploy of main': goBackTo('100', deployed, 0),
    'goes to one that was started by hand': goBackTo('100', '.github/workflows/deploy.yml workflow_dispatch main', 0),
    'cancels every deploy that has not ended, and waits for its end': {
      step: ['roll-back.yml', 'check', 'Cancel the deploys that wait or run'],
      programs: {
        gh: 'if [[ $2 == *=waiting ]] && [ "$(grep --count cancel calls)" = 0 ]; then echo 7; fi',
        sleep: '',
      },
      env: { REPOSITORY: 'a/b' },
      expected: {
        status: 0,
        stdout: '',
        calls: expect.stringMatching(
          /^(?:.*=\w+ .*\n){5}.*POST repos\/a\/b\/actions\/runs\/7\/cancel\n10\n(?:.*=\w+ .*\n){5}$/,
        ),
      },
    },
    'refuses a commit that is not on main, whatever the tag of its run is called': goBackTo(
      '100',
      deployed,
      1,
      'diverged',
    ),
    'refuses a run of a pull request': goBackTo('100', '.github/workflows/changes.yml pull_request main', 1),
    'refuses what is no number': goBackTo('100/../200', deployed, 1),
  });
});
