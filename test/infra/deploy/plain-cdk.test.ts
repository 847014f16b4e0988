import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { type Outcome, run } from '../../support/admin-command.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { account, environment } from './account.ts';

/** The CDK CLI with what has been synthesized, and an account that has the standard bootstrap. */
const cdk = (...words: string[]): Promise<Outcome> =>
  run('node_modules/.bin/cdk', [...words, '--app', synthesizedOnce()], environment());

test('npm run synth names the stacks whose templates the CDK can show', async () => {
  const [, words = ''] = /exec cdk (synth .*)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
  const { stdout, stderr } = await cdk(...words.replaceAll("'", '').split(' '));

  expect(stdout + stderr).toMatch(/Supply a stack id \(\w+\/Inventory, \w+\/Inventory\) to display its template/);
});

/** The commands of the diff of a pull request, with what it compares: with production, and with another template. */
const changes = readFileSync('.github/workflows/changes.yml', 'utf8');
const diffs = [...changes.matchAll(/npx cdk (diff .*) > diff\.txt/g)].map(([, words = '']) => words);
const base = path.join(temporaryDirectory(), 'base.template.json');
const lookup = 'arn:aws:iam::111122223333:role/cdk-hnb659fds-lookup-role-111122223333-eu-west-1';

test.each([
  [0, [lookup]],
  [1, []],
])(
  'cdk diff shows the changes of a pull request, with only the lookup role of the bootstrap: %i',
  async (at, assumed) => {
    const table = 'TablesRequests3CA232D6';
    const { [table]: _, ...deployed } = inventoryTemplate('production').Resources;
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    account.template = { Resources: deployed };
    writeFileSync(base, JSON.stringify(account.template));
    const words = (diffs[at] ?? '')
      .replace(' --app assembly', '')
      .replace(/cdk\.out\S+/, base)
      .replaceAll("'", '');
    const { exitCode, stdout } = await cdk(...words.split(' '));

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(String.raw`\[\+\] AWS::DynamoDB::Table \S+ ${table}`));
    expect(stdout).toContain('Number of stacks with differences: 1');
    expect([...new Set(account.assumed)]).toEqual(assumed);
  },
);
