import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { type List, listHandler } from '../../../shared/http/list-handler.ts';
import { SLOW_CLIENT } from '../../../shared/log.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { admittedHeaders, aProxyEvent } from '../../support/proxy-event.ts';
import { stopClock } from '../../support/clocks.ts';
import { recordFaults, recordRequestLines } from '../../support/request-lines.ts';
import { type Reader, streamedResponse, type StreamedResponse } from './streamed-response.ts';

acceptForeignErrors();
const lines = recordRequestLines();
const faults = recordFaults();

const toJson = (id: Int64): string => `{"id":${id}}`;

/** A list whose entries have the ids from 1 on, in pages of so many. */
class PagedList {
  reads = 0;
  /** Called before a page is read. */
  before: (page: number) => Promise<void> | void = () => undefined;
  readonly #pages: readonly (readonly Int64[])[];

  constructor(...lengths: number[]) {
    let id = 0;
    this.#pages = lengths.map((length) => Array.from({ length }, () => int64(String(++id))));
  }

  /** The JSON of the whole list. */
  get json(): string {
    return `[${this.#pages.flat().map(toJson).join(',')}]`;
  }

  readonly entries: List<Int64>['entries'] = {
    all: this.#all.bind(this),
    page: async ({ after = '0' }, limit) => {
      const rest = this.#pages.flat().filter((id) => BigInt(id) > BigInt(after));
      const entries = rest.slice(0, limit);
      return { entries, last: rest.length > limit ? entries.at(-1) : undefined };
    },
    byIds: async (ids) => ids,
  };

  async *#all(): AsyncGenerator<readonly Int64[]> {
    for (const page of this.#pages) {
      await this.before(++this.reads);
      yield page;
    }
  }
}

interface Asked extends NonNullable<Parameters<typeof aProxyEvent>[0]> {
  readonly minPace?: { readonly bytes: number; readonly withinMs: number };
}

function responseOf(
  { entries }: PagedList,
  { minPace = { bytes: 1, withinMs: 20_000 }, ...event }: Asked = {},
  reader?: Reader,
): Promise<StreamedResponse> {
  const { handler } = listHandler({ operation: 'listInventory', entries, toJson, minPace });
  return streamedResponse(handler, aProxyEvent(event), reader);
}

const isComplete = (text: string): boolean => text.endsWith(']');

/** Waits until nothing is read any more: zlib works in threads, so that a count of turns would not tell. */
async function settled(list: PagedList): Promise<number> {
  for (let reads = -1; reads !== list.reads; await setTimeout(50)) ({ reads } = list);
  return list.reads;
}

test('A list without limit and cursor is the JSON of all entries, without an ETag, even if pages are empty', async () => {
  const list = new PagedList(2, 0, 0, 3, 0);
  const response = await responseOf(list);

  expect(response).toMatchObject({ statusCode: 200, text: list.json, failure: undefined });
  expect(response.headers).not.toHaveProperty('ETag');
});

test('HEAD has the headers of GET, and reads the first page only', async () => {
  const list = new PagedList(2, 2, 2);
  const headers = { 'Accept-Encoding': 'gzip' };
  const { headers: ofGet } = await responseOf(new PagedList(2, 2, 2), { headers });
  const response = await responseOf(list, { method: 'HEAD', headers });

  expect(response).toMatchObject({ statusCode: 200, headers: ofGet, text: '', failure: undefined });
  expect(await settled(list)).toBe(1);
});

const LINK = /^<(?<path>[^?>]+)\?(?<query>[^>]+)>; rel="next"$/;

/** The query of the next page; undefined on the last page. */
const nextOf = ({ headers }: StreamedResponse): string | undefined => LINK.exec(headers.Link ?? '')?.groups?.query;

describe('A list with a limit', () => {
  test('is in pages, each with a link to the next', async () => {
    const seen: string[] = [];
    let query: string | undefined = 'limit=2&status=sold';
    while (query !== undefined && seen.length < 9) {
      const response: StreamedResponse = await responseOf(new PagedList(5), { query });
      seen.push(response.text);
      query = nextOf(response);
      expect(query ?? 'status=sold').toContain('status=sold');
    }

    expect(seen).toEqual(['[{"id":1},{"id":2}]', '[{"id":3},{"id":4}]', '[{"id":5}]']);
  });

  test('has 100 entries per page if the request has a cursor only', async () => {
    const next = nextOf(await responseOf(new PagedList(102), { query: 'limit=1' }));
    const query = next?.replace('limit=1&', '') ?? '';

    expect(nextOf(await responseOf(new PagedList(102), { query }))).toMatch(/^limit=100&/);
  });

  test('is 304 as long as the page and its Link are the same', async () => {
    const query = 'limit=2';
    const { headers } = await responseOf(new PagedList(3), { query, headers: { 'Accept-Encoding': 'gzip' } });
    const asked = { 'If-None-Match': `"other", ${headers.ETag}`, 'Accept-Encoding': 'gzip' };
    const { 'Content-Encoding': _, 'Content-Type': __, ...others } = headers;
    const known = await responseOf(new PagedList(3), { query, headers: asked });

    const ETag = expect.stringMatching(/^W\/"[\w-]{16}"$/);
    expect(headers).toMatchObject({ 'Cache-Control': 'private, no-cache', ETag });
    expect(known).toMatchObject({ statusCode: 304, headers: others, text: '' });
    expect(await responseOf(new PagedList(2), { query, headers: asked })).toMatchObject({ statusCode: 200 });
    const any = { 'If-None-Match': '*' };
    expect(await responseOf(new PagedList(2), { query, headers: any })).toMatchObject({ statusCode: 304 });
  });
});

afterEach(() => void jest.useRealTimers());

const stops = (chunks: number) => (chunks > 0 ? new Promise(() => undefined) : undefined);

const longList = (pages: number): PagedList => new PagedList(...Array.from({ length: pages }, () => 2_000));

describe.each([
  ['plain', {}, 6],
  ['compressed', { 'Accept-Encoding': 'gzip' }, 40],
])('A complete list, %s,', (_, headers, maxReads) => {
  test('is sent page by page, each before the next is read', async () => {
    const list = new PagedList(2, 2, 2);
    const taken = [1, 2, 3].map(() => Promise.withResolvers<void>());
    list.before = (page) => taken[page - 2]?.promise;
    const seen: string[] = [];
    const response = await responseOf(list, { headers }, (soFar) => {
      const text = soFar.text;
      for (const id of [2, 4, 6]) if (text.endsWith(`{"id":${id}}`)) taken[id / 2 - 1]?.resolve();
      seen.push(text);
    });

    expect(seen).toEqual(expect.arrayContaining(['[{"id":1},{"id":2}', '[{"id":1},{"id":2},{"id":3},{"id":4}']));
    expect(response.text).toBe(list.json);
  });

  test.each<[what: string, pages: number, bytes: number, pause: (chunks: number) => Promise<unknown> | undefined]>([
    ['stops, with about 32 kB in flight', 50, 1, stops],
    // More than all streams together hold, or compressed, what they hold when the store has no more.
    ['stops before the last part, which is on its way', 28, 1, stops],
    ['is always too slow', 50, 1_000_000, () => setTimeout(10)],
  ])('is truncated if its client %s', async (_client, pages, bytes, pause) => {
    const list = longList(pages);
    const response = await responseOf(list, { headers, minPace: { bytes, withinMs: 100 } }, async ({ chunks }) => {
      await pause(chunks.length);
    });

    const message = `The client was too slow: it read less than ${bytes} bytes in 100 ms`;
    expect(String(response.failure)).toBe(`${SLOW_CLIENT}: ${message}`);
    expect(isComplete(response.text)).toBe(false);
    expect(list.reads).toBeLessThan(pause === stops ? maxReads : 50);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false, cause: SLOW_CLIENT }]);
  });

  test('is complete for a client that keeps the min pace, however long it takes', async () => {
    stopClock();
    const begun = performance.now();
    // A part has some 25,000 bytes, so that two make a span; compressed, a dozen may be in flight.
    const minPace = { bytes: 30_000, withinMs: 2_400 };
    const response = await responseOf(longList(180), { headers, minPace }, () => jest.advanceTimersByTimeAsync(15));

    expect(performance.now() - begun).toBeGreaterThan(minPace.withinMs);
    expect(response.failure).toBeUndefined();
    expect(lines()).toEqual([expect.not.objectContaining({ complete: false })]);
    expect(isComplete(response.text)).toBe(true);
  });

  test('is complete even if its store is slower than the min pace', async () => {
    stopClock();
    const list = new PagedList(2, 0, 2);
    list.before = (page) => (page === 2 ? jest.advanceTimersByTimeAsync(600) : undefined);
    const response = await responseOf(list, { headers, minPace: { bytes: 1_000_000, withinMs: 500 } });

    expect(response.failure).toBeUndefined();
    expect(isComplete(response.text)).toBe(true);
  });

  test('fails and is logged if its store fails after the response has begun', async () => {
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
    expect(response.text).toMatch(/^\[\{"id":1\},\{"id":2\}/);
    expect(isComplete(response.text)).toBe(false);
    expect(lines()).toMatchObject([{ operation: 'listInventory', status: '200', complete: false }]);
    const line = /was truncated after its response had begun.*7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d/;
    expect(faults()).toEqual([[expect.stringMatching(line)]]);
  });
});

test.each([
  [['br;q=1.0, gzip;q=0.8, *;q=0.1'], 'gzip'],
  [['gzip;q=0.5, identity;q=0.4'], 'gzip'],
  [[], undefined],
  [['gzip;q=0, *'], undefined],
  [['gzip;q=0.5, identity'], undefined],
])('With Accept-Encoding %j the Content-Encoding is %s (RFC 9110 §12.5.3)', async (values, encoding) => {
  const list = new PagedList(3);
  const response = await responseOf(list, { headers: { 'accept-encoding': values } });

  expect(response.headers).toMatchObject({ Vary: 'Accept-Encoding', ...admittedHeaders });
  expect(response.headers['Content-Encoding']).toBe(encoding);
  expect(response.text).toBe(list.json);
});
