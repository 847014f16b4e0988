import { describe, expect } from '@jest/globals';
import { check, type Run } from './workflow-script.ts';

const COMMENTS = 'repos/acme/pets/issues/7/comments';
const MARK = '<!-- changes to the deployed stacks -->';
const bot = { login: 'github-actions[bot]' };
const others = [
  { id: 1, user: bot, body: 'Hello' },
  { id: 2, user: { login: 'eve' }, body: `${MARK} mine` },
];

/** `gh`, with comments that its own `--jq` goes through. */
const comment = (comments: object[], call: string): Run => ({
  step: ['changes.yml', 'diff', 'Comment'],
  programs: {
    gh: `if [ "$2" = --paginate ]; then jq --raw-output "$5" <<< '${JSON.stringify(comments)}'; else echo "$4 $5"; fi`,
  },
  env: { COMMENTS, REPOSITORY: 'repos/acme/pets' },
  files: { 'changes.md': `${MARK}\n\n### No changes\n` },
  expected: { status: 0, stdout: call },
});

const comparison: Run = {
  step: ['changes.yml', 'diff', 'Compare with what production was deployed from'],
  programs: { npx: "echo '[+] Resource ``` end of the block'" },
  expected: {
    status: 0,
    calls: 'cdk diff --app assembly --method template --ci production/*\n',
    changes: `${MARK}\n\`\`\`\`\`\`text\n[+] Resource ''' end of the block\n\`\`\`\`\`\`\n`,
  },
};

describe('a pull request', () => {
  check({
    'gets a comment': comment(others, `POST ${COMMENTS}\n`),
    'gets its comment changed': comment(
      [...others, { id: 42, user: bot, body: `${MARK}\n\nOld` }],
      'PATCH repos/acme/pets/issues/comments/42\n',
    ),
    'has what it would change in its comment': comparison,
  });
});

const audit = (step: Run['step'], auditExit: number, ACCEPTED: string, status: number, stdout: RegExp): Run => ({
  step,
  programs: { npm: `exit ${auditExit}` },
  env: { ACCEPTED },
  expected: { status, stdout: expect.stringMatching(stdout), calls: 'audit --audit-level=moderate\n' },
});

describe('the audit of the packages', () => {
  const inPullRequest = ['pull-request.yml', 'audit', 'Audit the packages'] as const;
  const inDeploy = ['deploy.yml', 'test', 'Audit the packages'] as const;

  check({
    'stops a pull request with a finding': audit(inPullRequest, 1, '', 1, /^$/),
    'prints why a finding is accepted': audit(inPullRequest, 1, 'No fix yet.', 0, /^::warning::.*: No fix yet\.\n$/),
    'warns of a finding in a deploy, which goes on': audit(
      inDeploy,
      1,
      '',
      0,
      /^::warning::.* The deploy goes on .*\n$/,
    ),
  });
});

const commits = { old: 'a1', running: 'b2', new: 'c3' } as const;

/** A step of the job that deploys staging; commits are on main in the order of their names. */
const deployStep = (
  name: string,
  programs: Readonly<Record<string, string>>,
  env: object,
  expected: Run['expected'],
): Run => ({
  step: ['deploy-stage.yml', 'deploy', name],
  programs: {
    git: `if [ "$1" = rev-parse ]; then echo "$HEAD"; exit; fi
      case $4 in origin/main) last=zz ;; *) last=$4 ;; esac
      case $3 in HEAD) first=$HEAD ;; *) first=$3 ;; esac
      if [ "$1" = merge-base ]; then [[ $first-$last =~ ^[a-z][0-9]-(zz|[a-z][0-9])$ && ! $first > $last ]]; fi`,
    ...programs,
  },
  env: { STAGE: 'staging', ROLL_BACK: '', LOSE: '', ...env },
  expected,
});

const look = (HEAD: string, running: string, status: number, output: string, ROLL_BACK = ''): Run =>
  deployStep('Look which commit runs', { aws: running }, { HEAD, ROLL_BACK }, { status, output });
const { old, running, new: newer } = commits;
const answers = `echo ${running}`;

describe('the commit that runs before a deploy', () => {
  check({
    'is what the stack says': look(newer, answers, 0, `commit=${running}\n`),
    'is none where it is this one': look(running, answers, 0, ''),
    'is none before the first deploy': look(newer, "echo 'Stack with id s does not exist' >&2; exit 254", 0, ''),
    'is none after a deploy of what is no commit': look(newer, 'echo none', 0, ''),
    'stops the deploy where it cannot be read': look(newer, "echo 'AccessDenied' >&2; exit 254", 1, ''),
    'stops an older deploy that comes late': look(old, answers, 1, ''),
    'does not stop a way back': look(old, answers, 0, `commit=${running}\n`, '--roll-back'),
  });
});

describe('a deploy in the pipeline', () => {
  const npm = 'if [ "$1" = run ]; then exit "${DEPLOY:-0}"; fi';

  check({
    'is that by hand': deployStep('Deploy', { npm }, {}, { status: 0, calls: 'run deploy -- --stage staging --yes\n' }),
    'may lose what is named, and go back': deployStep(
      'Deploy',
      { npm },
      { ROLL_BACK: '--roll-back', LOSE: 'A B' },
      { status: 0, calls: 'run deploy -- --stage staging --yes --roll-back --lose A B\n' },
    ),
    'says how it has failed': deployStep('Deploy', { npm }, { DEPLOY: '3' }, { status: 3, output: 'status=3\n' }),
    'goes back with the command of the commit before': deployStep(
      'Go back',
      { npm },
      { BEFORE: running },
      {
        status: 0,
        calls: `checkout --quiet ${running}\nci --ignore-scripts\nrun deploy -- --stage staging --yes --roll-back\n`,
      },
    ),
  });
});
