import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../infra/local/demo-keys.ts';
import { guidedErrors, prose } from '../infra/docs/error-pages.ts';
import { errorCatalogue } from '../shared/contract/errors.ts';
import { operations } from '../shared/contract/operations.ts';
import { planIds, plans } from '../shared/keys/plans.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The cells of the README's table rows, without the padding. */
const rows = readme
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const number = (value: number): string => value.toLocaleString('en');

describe('README', () => {
  test.each(guidedErrors)('explains the error $code as the catalogue does', ({ code, status, message, remedy }) => {
    const link = `[\`${code}\`](docs/errors/${code}.md)`;
    expect(rows).toContainEqual([String(status), link, prose(message), prose(remedy)]);
  });

  test('explains no error that the catalogue does not have', () => {
    const codes = rows.flatMap(([, code = '']) => /^\[`([A-Z_]+)`\]/.exec(code)?.[1] ?? []);
    expect(codes).toEqual(Object.keys(errorCatalogue));
  });

  test.each(planIds)('states the limits of the plan %s as the catalogue does', (plan) => {
    const { title, limits } = plans[plan];
    const cells = limits === 'agreed' ? ['as agreed', 'as agreed'] : [number(limits.perMinute), number(limits.perDay)];
    expect(rows).toContainEqual([title, ...cells]);
  });

  test.each(planIds)('prints the demo key of the plan %s as the host does', (plan) => {
    const { perMinute, perDay } = limitsOfDemoKey(plan);
    expect(readme).toContain(`${demoKey(plan)}  ${number(perMinute)} a minute, ${number(perDay)} a day`);
  });

  test.each(Object.entries(operations))('shows the operation %s', (_, { method, path }) => {
    expect(readme).toContain(`\`${method} ${path}\``);
  });
});
