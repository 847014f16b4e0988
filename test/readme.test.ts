import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../infra/demo-keys.ts';
import { operations } from '../shared/contract/operations.ts';
import { planIds } from '../shared/keys/plans.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

const number = (value: number): string => value.toLocaleString('en');

describe('README', () => {
  test.each(planIds)('prints the demo key of the plan %s as the host does', (plan) => {
    const { perMinute, perDay } = limitsOfDemoKey(plan);
    expect(readme).toContain(`${demoKey(plan)}  ${number(perMinute)} a minute, ${number(perDay)} a day`);
  });

  test.each(Object.entries(operations))('shows the operation %s', (_, { method, path }) => {
    expect(readme).toContain(`\`${method} ${path}\``);
  });
});
