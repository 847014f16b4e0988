import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { petStatusSchema } from '../../../shared/contract/inventory.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { listHandler } from '../../../shared/http/list-handler.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { entryToJson, PagedList } from '../../support/paged-list.ts';
import { admittedHeaders, aProxyEvent, type Reader, streamedAnswer } from '../../support/proxy-event.ts';
import { recordRequestLines } from '../../support/request-lines.ts';

acceptForeignErrors();
const lines = recordRequestLines();

let log: jest.SpiedFunction<typeof console.error>;

beforeEach(() => {
  log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

const handlerOf = (list: PagedList, operation: OperationId = 'listInventory', idleTimeoutMs = 20_000) =>
  listHandler({
    operation,
    status: petStatusSchema,
    entries: list,
    toJson: entryToJson,
    idleTimeoutMs,
  });

const answerOf = (list: PagedList, headers: Record<string, string> = {}, reader?: Reader) =>
  streamedAnswer(handlerOf(list), aProxyEvent({ headers }), reader);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Waits until nothing is read any more: zlib works in threads, so that a count of turns would not tell. */
async function settled(list: PagedList): Promise<number> {
  for (let reads = -1; reads !== list.reads.length; await setTimeout(100)) reads = list.reads.length;
  return list.reads.length;
}

describe('A list without limit and cursor', () => {
  test.each([
    ['nothing', []],
    ['many pages', [2, 3, 1, 2]],
    ['parts without entries of the status', [2, 0, 0, 3, 0]],
  ])('is the JSON of the whole list: %s', async (_, lengths) => {
    const list = new PagedList(...lengths);
    const answer = await answerOf(list);

    expect(answer).toMatchObject({ statusCode: 200, failure: undefined });
    expect(answer.text).toBe(list.json);
  });
});

describe('HEAD of a list', () => {
  test.each(['identity', 'gzip'])('has the headers of GET, and reads its first entries only: %s', async (encoding) => {
    const list = new PagedList(2, 2, 2);
    const headers = { 'Accept-Encoding': encoding };
    const { headers: ofGet } = await answerOf(new PagedList(2, 2, 2), headers);
    const answer = await streamedAnswer(handlerOf(list), aProxyEvent({ method: 'HEAD', headers }));

    expect(answer).toMatchObject({ statusCode: 200, headers: ofGet, text: '', failure: undefined });
    expect(await settled(list)).toBe(1);
    expect(lines()).toMatchObject([{ operation: 'listInventory' }, { operation: 'listInventory', status: '200' }]);
  });
});

const pageOf = (list: PagedList, headers: Record<string, string> = {}) =>
  streamedAnswer(handlerOf(list), aProxyEvent({ query: 'limit=2', headers }));

describe('The ETag of a page', () => {
  test('makes the answer 304 as long as the page and its Link are the same', async () => {
    const { headers } = await pageOf(new PagedList(3), { 'Accept-Encoding': 'gzip' });
    const asked = { 'If-None-Match': `"other", ${headers['ETag']}`, 'Accept-Encoding': 'gzip' };
    const { 'Content-Encoding': _, ...others } = headers;

    expect(await pageOf(new PagedList(3), asked)).toMatchObject({ statusCode: 304, headers: others, text: '' });
    expect(await pageOf(new PagedList(2), asked)).toMatchObject({ statusCode: 200 });
    expect(await pageOf(new PagedList(2), { 'If-None-Match': '*' })).toMatchObject({ statusCode: 304 });
  });

  test('is not on the whole list, which leaves before its end is known', async () => {
    expect((await answerOf(new PagedList(3))).headers).not.toHaveProperty('ETag');
  });
});

describe.each([
  ['', {}],
  [', compressed,', { 'Accept-Encoding': 'gzip' }],
])('A long list%s', (_, headers) => {
  const isZipped = 'Accept-Encoding' in headers;

  test('leaves page by page: each before the next is read', async () => {
    const list = new PagedList(2, 2, 2);
    const taken = [1, 2, 3].map(() => Promise.withResolvers<void>());
    list.before = (page) => taken[page - 2]?.promise;
    const seen: string[] = [];
    const answer = await answerOf(list, headers, (soFar) => {
      const text = isZipped ? soFar.unzipped : soFar.text;
      for (const id of [2, 4, 6]) if (text.endsWith(`{"id":${id}}`)) taken[id / 2 - 1]?.resolve();
      seen.push(text);
    });

    expect(seen).toEqual(expect.arrayContaining(['[{"id":1},{"id":2}', '[{"id":1},{"id":2},{"id":3},{"id":4}']));
    expect(isZipped ? answer.unzipped : answer.text).toBe(list.json);
  });

  test('is read no faster than it is taken: some 32 kB are under way, however long it is', async () => {
    const readMeanwhile: number[] = [];
    for (const length of [100, 200]) {
      const list = new PagedList(...Array.from({ length }, () => 2_000));
      const { promise: hurry, resolve } = Promise.withResolvers<void>();
      const answer = answerOf(list, headers, async ({ chunks }) => {
        if (chunks.length > 0) await hurry;
      });
      readMeanwhile.push(await settled(list));
      resolve();
      const whole = await answer;

      expect((isZipped ? whole.unzipped : whole.text) === list.json).toBe(true);
    }

    expect(readMeanwhile[0]).toBeLessThan(isZipped ? 40 : 6);
    expect(readMeanwhile[1]).toBe(readMeanwhile[0]);
  });

  test('is cut off for a reader that takes nothing any more, and is no complete list', async () => {
    const list = new PagedList(...Array.from({ length: 50 }, () => 2_000));
    const answer = await streamedAnswer(handlerOf(list, 'listInventory', 50), aProxyEvent({ headers }), ({ chunks }) =>
      chunks.length > 0 ? new Promise(() => undefined) : undefined,
    );

    expect(answer.failure).toEqual(new Error('The reader has stalled'));
    expect(isJson(isZipped ? answer.unzipped : answer.text)).toBe(false);
    expect(list.reads.length).toBeLessThan(50);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false }]);
  });

  test.each([2, 3])('that breaks off at page %d fails, and is no complete list', async (broken) => {
    const list = new PagedList(2, 2, 2);
    const failure = new ServiceError('SERVICE_UNAVAILABLE', { cause: new Error('connect ECONNREFUSED') });
    const begun = Promise.withResolvers<void>();
    list.before = async (page) => {
      if (page !== broken) return;
      await begun.promise;
      throw failure;
    };
    const answer = await answerOf(list, headers, ({ chunks }) => {
      if (chunks.length > 0) begun.resolve();
    });
    const text = isZipped ? answer.unzipped : answer.text;

    expect(answer).toMatchObject({ statusCode: 200, failure });
    expect(text.startsWith('[{"id":1},{"id":2}')).toBe(true);
    expect(isJson(text)).toBe(false);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false }]);
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/broke off after its answer had begun.*c6af9ac6-7b61-11e6-9a41-93e8deadbeef/)],
    ]);
  });

  test('that breaks off before it has begun is an Error body', async () => {
    const list = new PagedList(2, 2);
    list.before = () => {
      throw new ServiceError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });
    };
    const answer = await answerOf(list, headers);

    expect(answer).toMatchObject({
      statusCode: 503,
      headers: { 'Content-Type': 'application/json', 'Retry-After': '1', ...admittedHeaders },
      failure: undefined,
    });
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(answer.headers).not.toHaveProperty('Content-Encoding');
  });
});

describe('A list that cannot be had', () => {
  test('for a fault of ours is 500, and says nothing of it', async () => {
    const list = new PagedList(1);
    list.before = () => {
      throw new Error('secret');
    };
    const answer = await answerOf(list);

    expect(answer).toMatchObject({ statusCode: 500, headers: admittedHeaders, failure: undefined });
    expect(answer.text).toBe(
      '{"code":"INTERNAL_ERROR","message":"The service failed to answer this request.","status":500}',
    );
    expect(log.mock.calls).toEqual([[expect.stringContaining('secret')]]);
  });

  test.each(['limit=0', 'limit=1001', 'status=lost', 'offset=1', 'limit=1&limit=2'])(
    'as the query %s is wrong is 400, and nothing is read',
    async (query) => {
      const list = new PagedList(1);
      const answer = await streamedAnswer(handlerOf(list, 'listOrders'), aProxyEvent({ query }));

      expect(answer).toMatchObject({ statusCode: 400, headers: { 'X-API-Stability': 'beta', ...admittedHeaders } });
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'INVALID_QUERY', status: 400 });
      expect(list.asked).toEqual([]);
    },
  );
});

/** Whether an answer comes compressed. Either way it must be the list. */
async function isCompressed(...values: readonly string[]): Promise<boolean> {
  const list = new PagedList(3);
  const answer = await streamedAnswer(handlerOf(list), aProxyEvent({ headers: { 'accept-encoding': values } }));
  const isZipped = answer.headers['Content-Encoding'] === 'gzip';
  if ((isZipped ? answer.unzipped : answer.text) !== list.json) throw new Error(`This is not the list: ${answer.text}`);
  return isZipped;
}

describe('Accept-Encoding (RFC 9110 §12.5.3)', () => {
  test.each([
    [['gzip']],
    [['GZIP']],
    [['gzip, deflate, br, zstd']],
    [['br;q=1.0, gzip;q=0.8, *;q=0.1']],
    [['*']],
    [['gzip;q=0.1']],
    [['gzip;q=0.5, identity;q=0.4']],
    [['identity;q=0, *']],
    [[' gzip ; q=1 ']],
    [['br', 'gzip']],
  ])('%j: compressed', async (values) => {
    expect(await isCompressed(...values)).toBe(true);
  });

  test.each([
    [[]],
    [['identity']],
    [['br']],
    [['br, deflate, zstd']],
    [['gzip;q=0']],
    [['gzip;q=0, *']],
    [['gzip;q=0.5, identity']],
    [['identity;q=0']],
    [['gzippy']],
  ])('%j: as it is', async (values) => {
    expect(await isCompressed(...values)).toBe(false);
  });
});
