import { describe, expect, test } from '@jest/globals';
import { asMarkdown, asText, COMMENT_MARK, refusedTables } from '../../../../infra/release/changes/report.ts';
import type { StackChanges } from '../../../../infra/release/changes/stack-changes.ts';

const TABLE = 'production/Inventory/TablesStock';
const nothing = { reasons: new Map<string, string>(), problems: [] };
const allowed = { reasons: new Map([[TABLE, 'it is empty']]), problems: ['“Replaces-table: x” names no table'] };

const quiet: StackChanges = { id: 'production/ReferenceSite', summary: undefined, details: '', tables: [] };
const loud: StackChanges = {
  id: 'production/Inventory',
  summary: '1 replaced',
  details: 'Resources\n```\n[~] x',
  tables: [
    { kind: 'note', table: TABLE, what: 'loses its index x, which loses no data' },
    { kind: 'warning', table: TABLE, what: 'loses its deletion protection' },
    { kind: 'loss', table: TABLE, what: 'is replaced' },
  ],
};
const report = (allowances: typeof nothing | typeof allowed, stacks = [quiet, loud]) => ({
  stacks,
  allowances,
  comparedWith: 'the last deploy',
});

describe('a table that would be lost', () => {
  test('is refused unless it is allowed', () => {
    expect(refusedTables(report(nothing))).toEqual([TABLE]);
    expect(refusedTables(report(allowed))).toEqual([]);
  });
});

describe('the comment', () => {
  test('begins with the mark by which the next one finds it', () => {
    expect(asMarkdown(report(nothing)).split('\n')[0]).toBe(COMMENT_MARK);
  });

  test('says the worst first, and how it would be allowed', () => {
    expect(
      asMarkdown(report(nothing))
        .split('\n')
        .filter((line) => line !== ''),
    ).toEqual([
      COMMENT_MARK,
      '### Changes to the last deploy: 1 of 2 stacks',
      `- Loss: \`${TABLE}\` is replaced. Not allowed.`,
      `- Warning: \`${TABLE}\` loses its deletion protection.`,
      `- Note: \`${TABLE}\` loses its index x, which loses no data.`,
      'If that is meant, say so and why in the description of the pull request:',
      '```text',
      `Replaces-table: ${TABLE}: why`,
      '```',
      '- `production/Inventory`: 1 replaced',
      '<details><summary>production/Inventory</summary>',
      '````text',
      'Resources',
      '```',
      '[~] x',
      '````',
      '</details>',
    ]);
  });

  test('names the reason of what is allowed, and what of the description helps nothing', () => {
    const text = asMarkdown(report(allowed));

    expect(text).toContain(`- Loss: \`${TABLE}\` is replaced. Allowed: it is empty\n`);
    expect(text).toContain('- Warning: “Replaces-table: x” names no table.\n');
    expect(text).not.toContain('If that is meant');
  });

  test('of no changes is one line', () => {
    expect(asMarkdown(report(nothing, [quiet]))).toBe(`${COMMENT_MARK}\n\n### No changes to the last deploy\n`);
  });

  test('leaves out what is too long for GitHub, and says so', () => {
    const long = { ...loud, details: 'x'.repeat(59_000) };
    const text = asMarkdown(report(nothing, [long, { ...long, id: 'staging/Inventory' }]));

    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('x'.repeat(59_000));
    expect(text).toContain(
      '<details><summary>staging/Inventory</summary>\n\n```text\nToo long for a comment: npm run changes prints it.\n',
    );
  });
});

test('The text for a terminal has the details and the findings', () => {
  expect(asText(report(nothing)).split('\n')).toEqual([
    'production/ReferenceSite: no changes',
    'production/Inventory: 1 replaced',
    '',
    'Resources',
    '```',
    '[~] x',
    '',
    `Loss: ${TABLE} is replaced. Not allowed.`,
    `Warning: ${TABLE} loses its deletion protection.`,
    `Note: ${TABLE} loses its index x, which loses no data.`,
    'Changes to the last deploy: 1 of 2 stacks',
  ]);
});
