import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { ListId } from '../../../shared/contract/operations.ts';
import { listHandler } from '../../../shared/http/list-handler.ts';
import { SLOW_CLIENT } from '../../../shared/log.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { entryToJson, PagedList } from './paged-list.ts';
import { admittedHeaders, aProxyEvent } from '../../support/proxy-event.ts';
import { type Reader, streamedResponse, type StreamedResponse } from './streamed-response.ts';
import { recordFaults, recordRequestLines } from '../../support/request-lines.ts';

acceptForeignErrors();
const lines = recordRequestLines();
const faults = recordFaults();

interface Asked extends NonNullable<Parameters<typeof aProxyEvent>[0]> {
  readonly operation?: ListId;
  readonly minPace?: { readonly bytes: number; readonly withinMs: number };
}

function responseOf(
  entries: PagedList,
  { operation = 'listInventory', minPace = { bytes: 1, withinMs: 20_000 }, ...event }: Asked = {},
  reader?: Reader,
): Promise<StreamedResponse> {
  const { handler } = listHandler({ operation, entries, toJson: entryToJson, minPace });
  return streamedResponse(handler, aProxyEvent(event), reader);
}

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
  for (let reads = -1; reads !== list.reads.length; await setTimeout(50)) reads = list.reads.length;
  return list.reads.length;
}

test('a list without limit and cursor is complete JSON without an ETag', async () => {
  const list = new PagedList(2, 0, 0, 3, 0);
  const response = await responseOf(list);

  expect(response).toMatchObject({ statusCode: 200, failure: undefined });
  expect(response.text).toBe(list.json);
  expect(response.headers).not.toHaveProperty('ETag');
});

test('HEAD has the headers of GET, and reads the first entries only', async () => {
  const list = new PagedList(2, 2, 2);
  const headers = { 'Accept-Encoding': 'gzip' };
  const { headers: ofGet } = await responseOf(new PagedList(2, 2, 2), { headers });
  const response = await responseOf(list, { method: 'HEAD', headers });

  expect(response).toMatchObject({ statusCode: 200, headers: ofGet, text: '', failure: undefined });
  expect(await settled(list)).toBe(1);
});

const LINK = /^<(?<path>[^?>]+)\?(?<query>[^>]+)>; rel="next"$/;

/** The query that the next page is asked for with; undefined on the last page. */
const nextOf = ({ headers }: StreamedResponse): string | undefined => LINK.exec(headers.Link ?? '')?.groups?.query;

describe('a list with a limit', () => {
  test('has pages that link to the next', async () => {
    const seen: string[] = [];
    let query: string | undefined = 'limit=2&status=sold';
    while (query !== undefined) {
      const response: StreamedResponse = await responseOf(new PagedList(5), { query });
      seen.push(response.text);
      query = nextOf(response);
      expect(query ?? 'status=sold').toContain('status=sold');
    }

    expect(seen).toEqual(['[{"id":1},{"id":2}]', '[{"id":3},{"id":4}]', '[{"id":5}]']);
    const [cursor] = nextOf(await responseOf(new PagedList(102), { query: 'limit=1' }))?.match(/cursor=.+/) ?? [];
    expect(nextOf(await responseOf(new PagedList(102), { query: cursor ?? '' }))).toMatch(/^limit=100&/);
  });

  test('returns 304 while the page and its Link are unchanged', async () => {
    const query = 'limit=2';
    const { headers } = await responseOf(new PagedList(3), { query, headers: { 'Accept-Encoding': 'gzip' } });
    const asked = { 'If-None-Match': `"other", ${headers.ETag}`, 'Accept-Encoding': 'gzip' };
    const { 'Content-Encoding': _, ...others } = headers;
    const known = await responseOf(new PagedList(3), { query, headers: asked });

    expect(headers).toMatchObject({
      'Cache-Control': 'private, no-cache',
      ETag: expect.stringMatching(/^W\/"[\w-]{16}"$/),
    });
    expect(known).toMatchObject({ statusCode: 304, headers: others, text: '' });
    expect(await responseOf(new PagedList(2), { query, headers: asked })).toMatchObject({ statusCode: 200 });
    const any = { 'If-None-Match': '*' };
    expect(await responseOf(new PagedList(2), { query, headers: any })).toMatchObject({ statusCode: 304 });
  });
});

const stops = (chunks: number) => (chunks > 0 ? new Promise(() => undefined) : undefined);

describe.each([
  ['', {}],
  [', compressed,', { 'Accept-Encoding': 'gzip' }],
])('a long list%s', (_, headers) => {
  const isZipped = 'Accept-Encoding' in headers;
  const textOf = (response: StreamedResponse): string => (isZipped ? response.unzipped : response.text);

  test('is sent page by page, each before the next is read', async () => {
    const list = new PagedList(2, 2, 2);
    const taken = [1, 2, 3].map(() => Promise.withResolvers<void>());
    list.before = (page) => taken[page - 2]?.promise;
    const seen: string[] = [];
    const response = await responseOf(list, { headers }, (soFar) => {
      const text = textOf(soFar);
      for (const id of [2, 4, 6]) if (text.endsWith(`{"id":${id}}`)) taken[id / 2 - 1]?.resolve();
      seen.push(text);
    });

    expect(seen).toEqual(expect.arrayContaining(['[{"id":1},{"id":2}', '[{"id":1},{"id":2},{"id":3},{"id":4}']));
    expect(textOf(response)).toBe(list.json);
  });

  test('is read no faster than the client takes it, with some 32 kB in flight', async () => {
    const list = new PagedList(...Array.from({ length: 100 }, () => 2_000));
    const { promise: hurry, resolve } = Promise.withResolvers<void>();
    const response = responseOf(list, { headers }, async ({ chunks }) => {
      if (chunks.length > 0) await hurry;
    });
    expect(await settled(list)).toBeLessThan(isZipped ? 40 : 6);
    resolve();

    expect(textOf(await response) === list.json).toBe(true);
  });

  test.each<[what: string, pages: number, bytes: number, pause: (chunks: number) => Promise<unknown> | undefined]>([
    ['nothing', 50, 1, stops],
    // More than all streams together hold, or compressed, what they hold when the store has no more.
    ['nothing, with all but the end in flight', 28, 1, stops],
    ['too little', 50, 1_000_000, () => setTimeout(10)],
  ])('is truncated for a client that takes %s', async (_takes, pages, bytes, pause) => {
    const list = new PagedList(...Array.from({ length: pages }, () => 2_000));
    const minPace = { bytes, withinMs: 100 };
    const response = await responseOf(list, { headers, minPace }, async ({ chunks }) => {
      await pause(chunks.length);
    });

    expect(String(response.failure)).toBe(
      `${SLOW_CLIENT}: The client was too slow: it read less than ${bytes} bytes in 100 ms`,
    );
    expect(isJson(textOf(response))).toBe(false);
    expect(list.reads.length).toBeLessThan(50);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false, cause: SLOW_CLIENT }]);
  });

  test('is not truncated for a client that keeps the pace', async () => {
    const list = new PagedList(...Array.from({ length: 180 }, () => 2_000));
    const begun = performance.now();
    // A part has some 25,000 bytes, so that two make a span; compressed, a dozen may be in flight.
    const minPace = { bytes: 30_000, withinMs: 2_400 };
    const response = await responseOf(list, { headers, minPace }, () => setTimeout(15));

    expect(performance.now() - begun).toBeGreaterThan(minPace.withinMs);
    expect(response.failure).toBeUndefined();
    expect(isJson(textOf(response))).toBe(true);
  });

  test('is not truncated if the store is slow', async () => {
    const list = new PagedList(2, 0, 2);
    list.before = (page) => (page === 2 ? setTimeout(600) : undefined);
    const response = await responseOf(list, { headers, minPace: { bytes: 1_000_000, withinMs: 500 } });

    expect(response.failure).toBeUndefined();
    expect(isJson(textOf(response))).toBe(true);
  });

  test('that fails midway is truncated and logged', async () => {
    const list = new PagedList(2, 2, 2);
    const failure = new ServiceError('SERVICE_UNAVAILABLE', { cause: new Error('connect ECONNREFUSED') });
    const begun = Promise.withResolvers<void>();
    list.before = async (page) => {
      if (page !== 3) return;
      await begun.promise;
      throw failure;
    };
    const response = await responseOf(list, { headers }, ({ chunks }) => {
      if (chunks.length > 1) begun.resolve();
    });

    expect(response).toMatchObject({ statusCode: 200, failure });
    expect(textOf(response).startsWith('[{"id":1},{"id":2}')).toBe(true);
    expect(isJson(textOf(response))).toBe(false);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false }]);
    expect(faults()).toEqual([
      [expect.stringMatching(/was truncated after its response had begun.*7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d/)],
    ]);
  });

  test('that fails before its first entry returns an Error body', async () => {
    const list = new PagedList(2, 2);
    list.before = () => {
      throw new ServiceError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });
    };
    const response = await responseOf(list, { headers });

    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' }, failure: undefined });
    expect(JSON.parse(response.text)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(response.headers).not.toHaveProperty('Content-Encoding');
  });
});

test.each(['limit=0', 'petId=1'])('an invalid query returns 400 and reads nothing: orders by %s', async (query) => {
  const list = new PagedList(1);
  const response = await responseOf(list, { query, operation: 'listOrders' });

  expect(response).toMatchObject({ statusCode: 400, headers: { 'X-API-Stability': 'beta', ...admittedHeaders } });
  expect(list.asked).toEqual([]);
});

describe('Accept-Encoding (RFC 9110 §12.5.3)', () => {
  test.each([
    [['br;q=1.0, gzip;q=0.8, *;q=0.1'], true],
    [['gzip;q=0.5, identity;q=0.4'], true],
    [[], false],
    [['gzip;q=0, *'], false],
    [['gzip;q=0.5, identity'], false],
  ])('%j: compressed: %s', async (values, isZipped) => {
    const list = new PagedList(3);
    const response = await responseOf(list, { headers: { 'accept-encoding': values } });

    expect(response.headers).toMatchObject({ Vary: 'Accept-Encoding', ...admittedHeaders });
    expect(response.headers['Content-Encoding']).toBe(isZipped ? 'gzip' : undefined);
    expect(isZipped ? response.unzipped : response.text).toBe(list.json);
  });
});
