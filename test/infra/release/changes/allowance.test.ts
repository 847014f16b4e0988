import { describe, expect, test } from '@jest/globals';
import { allowancesIn } from '../../../../infra/release/changes/allowance.ts';

const STOCK = 'production/Inventory/TablesStock190D1C2E';
const KEYS = 'production/Inventory/TablesKeys6B5A3ABF';
const lost = [STOCK, KEYS].map((table) => ({ kind: 'loss' as const, table, what: 'is lost' }));

const read = (text: string) => {
  const { reasons, problems } = allowancesIn(text, lost);
  return { reasons: Object.fromEntries(reasons), problems };
};

describe('the description of a pull request', () => {
  test.each([
    ['a line', `Replaces-table: ${STOCK}: the key has another order`, 'the key has another order'],
    ['one among others, with the line ends of a browser', `Hi,\r\nReplaces-table: ${STOCK}: why: so\r\nBye`, 'why: so'],
    ['one in a list', `- Replaces-table: ${STOCK}: moved`, 'moved'],
    ['one in other letters', `  replaces-Table:  ${STOCK}:  moved  `, 'moved'],
  ])('allows a table to be lost by %s', (_, text, reason) => {
    expect(read(text)).toEqual({ reasons: { [STOCK]: reason }, problems: [] });
  });

  test('allows several, a line each', () => {
    expect(read(`Replaces-table: ${STOCK}: a\nReplaces-table: ${KEYS}: b`)).toEqual({
      reasons: { [STOCK]: 'a', [KEYS]: 'b' },
      problems: [],
    });
  });

  test.each([
    ['is empty', ''],
    ['has the line in a comment', `<!-- an example:\nReplaces-table: ${STOCK}: why\n-->`],
    ['has it in a sentence', `I thought of Replaces-table: ${STOCK}: why`],
  ])('allows nothing where it %s', (_, text) => {
    expect(read(text)).toEqual({ reasons: {}, problems: [] });
  });

  test.each([
    ['gives no reason', STOCK, `“Replaces-table: ${STOCK}” needs a table, a colon and a reason`],
    ['gives an empty reason', `${STOCK}:  `, `“Replaces-table: ${STOCK}:” needs a table, a colon and a reason`],
    [
      'names a table that is not lost',
      'production/Inventory/TablesPets: why',
      '“Replaces-table: production/Inventory/TablesPets” names no table that would be lost',
    ],
  ])('is told where a line %s', (_, rest, problem) => {
    expect(read(`Replaces-table: ${rest}`)).toEqual({ reasons: {}, problems: [problem] });
  });
});
