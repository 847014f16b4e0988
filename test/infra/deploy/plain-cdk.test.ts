import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type Outcome, run } from '../../support/admin-command.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { account, environment } from './account.ts';

/** The CDK CLI with what has been synthesized, and an account that has the standard bootstrap. */
const cdk = (...words: string[]): Promise<Outcome> =>
  run('node_modules/.bin/cdk', [...words, '--app', synthesizedOnce()], environment());

test('npm run synth names the stacks whose templates the CDK can show', async () => {
  const [, words = ''] = /exec cdk (synth .*)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
  const { stdout, stderr } = await cdk(...words.replaceAll("'", '').split(' '));

  expect(stdout + stderr).toMatch(/Supply a stack id \(\w+\/Inventory, \w+\/Inventory\) to display its template/);
});

test('cdk deploy without a pattern deploys nothing, and names the patterns', async () => {
  const { exitCode, stderr } = await cdk('deploy');

  expect(exitCode).toBe(1);
  expect(stderr).toContain("use a pattern that matches their full path, e.g. 'staging/*', 'production/*'");
});

test('cdk diff shows the changes of a stage, with only the lookup role of the bootstrap', async () => {
  const table = 'TablesRequests3CA232D6';
  const { [table]: _, ...deployed } = inventoryTemplate('production').Resources;
  account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
  account.template = { Resources: deployed };
  const { exitCode, stdout, stderr } = await cdk('diff', '--method', 'template', 'production/*');

  expect(exitCode).toBe(0);
  expect(stdout + stderr).toMatch(new RegExp(String.raw`\[\+\] AWS::DynamoDB::Table \S+ ${table}`));
  expect(stdout + stderr).toContain('Number of stacks with differences: 1');
  const lookup = 'arn:aws:iam::111122223333:role/cdk-hnb659fds-lookup-role-111122223333-eu-west-1';
  expect([...new Set(account.assumed)]).toEqual([lookup]);
});
