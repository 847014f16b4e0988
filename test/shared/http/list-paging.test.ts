import { describe, expect, test } from '@jest/globals';
import { petStatusSchema } from '../../../shared/contract/inventory.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { listHandler } from '../../../shared/http/list-handler.ts';
import { entryToJson, PagedList } from '../../support/paged-list.ts';
import { admittedHeaders, aProxyEvent, streamedAnswer, type StreamedAnswer } from '../../support/proxy-event.ts';
import { recordRequestLines } from '../../support/request-lines.ts';

recordRequestLines();

const handlerOf = (list: PagedList, operation: OperationId) =>
  listHandler({
    operation,
    status: petStatusSchema,
    entries: list,
    toJson: entryToJson,
  });

const page = (list: PagedList, query: string, operation: OperationId = 'listInventory') =>
  streamedAnswer(handlerOf(list, operation), aProxyEvent({ query }));

const idsOf = ({ text }: StreamedAnswer): number[] => {
  const entries: { id: number }[] = JSON.parse(text);
  return entries.map(({ id }) => id);
};

const LINK = /^<(?<path>[^?>]+)\?(?<query>[^>]+)>; rel="next"$/;

/** The query that the next page is asked for with; undefined on the last page. */
const nextOf = ({ headers }: StreamedAnswer): string | undefined => LINK.exec(headers.Link ?? '')?.groups?.query;

const cursorOf = (answer: StreamedAnswer): string => new URLSearchParams(nextOf(answer)).get('cursor') ?? '';

/** The ids on each page, from the first on. */
async function walk(list: PagedList, query: string): Promise<number[][]> {
  const pages: number[][] = [];
  let next: string | undefined = query;
  while (next !== undefined) {
    const answer: StreamedAnswer = await page(list, next);
    pages.push(idsOf(answer));
    next = nextOf(answer);
  }
  return pages;
}

describe('A list with a limit', () => {
  test.each([
    [1, [[1], [2], [3], [4], [5]]],
    [2, [[1, 2], [3, 4], [5]]],
    [6, [[1, 2, 3, 4, 5]]],
  ])('of %d is the pages %j', async (limit, pages) => {
    expect(await walk(new PagedList(5), `limit=${limit}`)).toEqual(pages);
  });

  test('has the headers of every answer, and the way to the next page (RFC 8288)', async () => {
    const { headers } = await page(new PagedList(3), 'limit=2');

    expect(headers).toEqual({
      'Content-Type': 'application/json',
      Vary: 'Accept-Encoding',
      ETag: expect.stringMatching(/^W\/"[\w-]{16}"$/),
      Link: expect.stringMatching(/^<\/v1\/inventory\?limit=2&cursor=[\w-]+>; rel="next"$/),
      ...admittedHeaders,
    });
  });

  test('keeps the status on the way', async () => {
    const list = new PagedList(3);
    const first = await page(list, 'limit=2&status=sold');
    await page(list, nextOf(first) ?? '');

    expect(nextOf(first)).toMatch(/^limit=2&status=sold&cursor=/);
    expect(list.asked).toEqual([
      { status: 'sold', after: '0', limit: 2 },
      { status: 'sold', after: '2', limit: 2 },
    ]);
  });
});

describe('A cursor', () => {
  test.each<[string, (cursor: string) => string, OperationId]>([
    ['with another status', (cursor) => `cursor=${cursor}&status=sold`, 'listInventory'],
    ['in another list', (cursor) => `cursor=${cursor}`, 'listOrders'],
    ['that is empty', () => 'cursor=', 'listInventory'],
  ])('%s is 400, and nothing is read', async (_, queryOf, operation) => {
    const cursor = cursorOf(await page(new PagedList(3), 'limit=1'));
    const list = new PagedList(3);
    const answer = await page(list, queryOf(cursor), operation);

    expect(answer).toMatchObject({ statusCode: 400, headers: admittedHeaders });
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    expect(list.asked).toEqual([]);
  });
});
