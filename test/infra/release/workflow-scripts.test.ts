import { describe, expect } from '@jest/globals';
import { check, type Run } from '../../support/workflow-script.ts';

const COMMENTS = 'repos/acme/pets/issues/7/comments';
/** As infra/release/changes.ts writes it. */
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

const failingComparison: Run = {
  step: ['changes.yml', 'diff', 'Compare with the base branch'],
  programs: { npm: `if [ "$2" = --silent ]; then exit 1; fi` },
  expected: {
    status: 1,
    calls: 'run synth\nrun --silent changes -- --app assembly --against cdk.out --markdown\n',
  },
};

describe('a pull request', () => {
  check({
    'gets a comment': comment(others, `POST ${COMMENTS}\n`),
    'gets its comment changed': comment(
      [...others, { id: 42, user: bot, body: `${MARK}\n\nOld` }],
      'PATCH repos/acme/pets/issues/comments/42\n',
    ),
    'from a fork fails as its comparison does': failingComparison,
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
  const inDeploy = ['deploy.yml', 'build', 'Audit the packages'] as const;

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
