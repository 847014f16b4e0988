import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { atMost, cellsOf, partNames, report, worstOf } from './figure.ts';
import { describeWith } from '../support/programs.ts';
import { inventoryTemplate, propertiesIn } from '../support/service-template.ts';
import { HANG_MS } from '../support/until.ts';
import { derivedPages, pages } from './cost-page.ts';
import { tableOf } from './pages.ts';

test('the pages of costs and attacks match the measured usage and the prices', async () => {
  expect(await derivedPages(pages.numbers.text)).toEqual({ costs: pages.costs.text, security: pages.security.text });
});

describeWith(['openssl', 'ps'], 'npm run bench', () => {
  test('each part of the bench measures numbers', async () => {
    const rounds = [0, 1].map((half) => partNames.filter((_, index) => index % 2 === half));
    const main = path.join(import.meta.dirname, 'main.ts');
    const run = rounds.map((parts) =>
      promisify(execFile)(process.execPath, [main, '--small', ...parts], { timeout: HANG_MS }),
    );
    // Each runs to its end, that no process outlives a failure.
    const failed = (await Promise.allSettled(run)).filter(({ status }) => status === 'rejected');

    expect(failed).toEqual([]);
  });
});

test('an idle production costs less than 16 USD a month, pays for no KMS key, and only the page has prices', () => {
  expect(tableOf(pages.costs.text, 'stage').get('production')?.at(-1)).toBeLessThan(16);
  expect(propertiesIn(inventoryTemplate('production'), 'AWS::KMS::Key')).toEqual([]);
  // With DynamoDB's own key: calls of another one are billed.
  for (const table of propertiesIn(inventoryTemplate('production'), 'AWS::DynamoDB::Table'))
    expect(table).not.toHaveProperty('SSESpecification');
  for (const file of globSync('{infra,functions,shared}/**/*.ts'))
    expect(readFileSync(file, 'utf8')).not.toMatch(/USD/);
});

test('the page of numbers has the worst case per measure, and why it misses its target', () => {
  const figures = [atMost('a: time', 1, 2), { ...atMost('b: time', 3, 2), ifMissed: 'slow' }, report('a: kind', 7)];

  expect(worstOf(figures).map(cellsOf)).toEqual([['time, worst of 2', '3', '≤ 2', 'missed: slow']]);
});
