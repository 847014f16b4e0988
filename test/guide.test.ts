import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { examples } from '../infra/reference/examples.ts';
import { errorCatalog, ServiceError } from '../shared/contract/errors.ts';
import { IDEMPOTENCY_KEY_RULE } from '../shared/http/conditional-requests.ts';
import { MAX_QUANTITY } from '../shared/contract/inventory.ts';
import { API_VERSION, petStatuses } from '../shared/contract/records.ts';
import { MAX_LIMIT, type Operation, operations } from '../shared/contract/operations.ts';
import { MIN_PACE } from '../shared/http/list-handler.ts';
import { allowedRequestHeaders, STABILITY_HEADER } from '../shared/http/response-headers.ts';
import { planIds, plans } from '../shared/keys/plans.ts';
import { SUSPENSION_MS } from '../shared/keys/verdict.ts';
import { MAX_READ_FOR_PAGE } from '../shared/stores/sorted-table.ts';

const guide = readFileSync(new URL('../docs/guide.md', import.meta.url), 'utf8');

/** The guide as one line of words: where its lines break says nothing. */
const words = guide.replaceAll(/\s+/g, ' ');

/** The cells of its table rows, without the padding. */
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const formatNumber = (value: number): string => value.toLocaleString('en');

const ofOperations: readonly Operation[] = Object.values(operations);
const deprecated = ofOperations.filter((operation) => operation.deprecated);
const marked = ofOperations.filter(({ stability }) => stability !== 'stable');

describe('docs/guide.md', () => {
  test('has exactly the plans of the catalog', () => {
    const expected = planIds.map((plan) => {
      const { title, limits } = plans[plan];
      return limits === 'agreed'
        ? [title, 'as agreed', 'as agreed']
        : [title, formatNumber(limits.perMinute), formatNumber(limits.perDay)];
    });

    const first = rows.findIndex(([name]) => name === 'plan') + 2;
    expect(rows.slice(first, first + expected.length + 1)).toEqual([...expected, ['header', 'meaning']]);
  });

  test('has the examples of the OpenAPI document', () => {
    const blocks = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']): unknown => JSON.parse(json));

    expect(blocks).toEqual([
      examples.listInventory,
      examples.updateInventory,
      new ServiceError('PET_NOT_FOUND').body,
      examples.adjustInventory,
      examples.updateInventories,
    ]);
  });

  test.each([
    `from 0 to ${MAX_QUANTITY}`,
    `(${petStatuses.map((status) => `\`${status}\``).join(', ')})`.replace(/, (?=[^,]+$)/, ' or '),
    `suspended for ${SUSPENSION_MS / 60_000} minutes`,
    `\`limit\` (1 to ${formatNumber(MAX_LIMIT)})`,
    `less than ${MIN_PACE.bytes / MIN_PACE.withinMs} kB per second, before compression, for ${MIN_PACE.withinMs / 1_000} seconds`,
    `reads at most ${formatNumber(MAX_READ_FOR_PAGE)} of`,
    `Other keys are allowed: ${IDEMPOTENCY_KEY_RULE}.`,
    `send ${allowedRequestHeaders.map((name) => `\`${name}\``).join(', ')}`.replace(/, (?=[^,]+$)/, ' and '),
    `version ${API_VERSION};`,
    `header \`${STABILITY_HEADER}\``,
    ...deprecated.map(({ method, path }) => `\`${method} ${path}\` is deprecated.`),
    ...marked.map(({ method, path, stability }) => `- \`${method} ${path}\`: ${stability}`),
  ])('matches the code: %s', (fact) => {
    expect(words).toContain(fact);
  });
});

test('docs/guide.md names only error codes of the catalog', () => {
  const codes = [...guide.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code = '']) => code);
  expect(codes.filter((code) => !(code in errorCatalog))).toEqual([]);
});

describe('docs/errors.md', () => {
  const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
  const errors = Object.entries(errorCatalog);

  test('has a section for each error of the catalog, with its status and message', () => {
    const sections = [...page.matchAll(/^## (\w+)\n\n\*\*(\d+)\*\* (.+)$/gm)].map(([, ...section]) => section);

    expect(sections).toEqual(
      errors.map(([code, { status, message }]) => [code, String(status), message.replaceAll('<', String.raw`\<`)]),
    );
  });

  test('has a row for each error, with a link to its section and when to retry', () => {
    const table = [...page.matchAll(/^\| (\d+) +\| \[`(\w+)`\]\(#(\w+)\) +\| (.+?) +\|$/gm)];
    const retryAfter = (status: string): string[] =>
      table
        .filter(([, of, code]) => of === status && code !== 'UPDATE_OUTCOME_UNKNOWN')
        .map(([, , , , when = '']) => when);

    expect(table.map(([, status, code, anchor]) => [status, code, anchor])).toEqual(
      errors.map(([code, { status }]) => [String(status), code, code.toLowerCase()]),
    );
    expect(new Set([...retryAfter('429'), ...retryAfter('503')])).toEqual(new Set(['after `Retry-After`']));
  });
});
