import { type Check, expectSame, expectThat } from './check.ts';
import type { Service, ServiceAnswer } from './service.ts';

/** Entries that are read of a list; a store may have millions. */
const ENOUGH = 5_000;

/** Above so many requests a minute an instance counts several at once, so that an answer may not count down. */
const COUNTED_ONE_BY_ONE = 1_000;

/** What reading the service shows: 11 requests. */
export const readingChecks: readonly Check[] = [
  {
    name: 'the base address ends in /v1',
    run: ({ url }) => {
      expectThat(url.endsWith('/v1'), `it is ${url}`);
      return Promise.resolve(url);
    },
  },
  { name: 'GET /inventory lists the stock, ascending by petId', run: listStock },
  { name: 'limit and cursor lead from page to page', run: followPages },
  { name: 'status lists only entries with that status', run: filterByStatus },
  { name: 'a list is compressed where the client allows it', run: compress },
  { name: 'GET /store/orders lists orders, marked as beta', run: listOrders },
  { name: 'GET /pets/{petId} says that it is deprecated, and until when', run: showDeprecation },
  { name: 'the limit headers count down', run: countDown },
];

async function listStock({ client }: Service): Promise<string> {
  let last: bigint | undefined;
  let count = 0;
  for await (const { petId } of client.listInventory()) {
    expectThat(last === undefined || petId > last, `${petId} comes after ${last}`);
    last = petId;
    count += 1;
    if (count === ENOUGH) return `the first ${count} entries of a longer list`;
  }
  return `${count} entries, complete`;
}

async function followPages({ client }: Service): Promise<string> {
  const first = await client.listInventoryPage({ limit: 2 });
  if (first.next === undefined) {
    expectThat(first.data.length <= 2, `a page of 2 has ${first.data.length} entries`);
    return `${first.data.length} entries on the only page`;
  }
  expectSame('the length of the first page', first.data.length, 2);
  const second = await client.listInventoryPage({ limit: 2, cursor: first.next });
  const ids = [...first.data, ...second.data].map(({ petId }) => petId);
  expectThat(
    ids.every((id, index) => id > (ids[index - 1] ?? id - 1n)),
    `the petIds are ${ids.join(', ')}`,
  );
  return `petIds ${ids.join(', ')}`;
}

async function filterByStatus({ client }: Service): Promise<string> {
  const { data } = await client.listInventoryPage({ limit: 10, status: 'sold' });
  const others = data.filter(({ status }) => status !== 'sold');
  expectSame('the number of other entries', others.length, 0);
  return `${data.length} entries, all sold`;
}

async function compress(service: Service): Promise<string> {
  const list = (encoding: string): Promise<ServiceAnswer> =>
    service.send('GET', '/inventory?limit=1000', { headers: { 'Accept-Encoding': encoding } });
  const compressed = await list('gzip');
  const plain = await list('identity');
  for (const { status, headers } of [compressed, plain]) {
    expectSame('the status', status, 200);
    expectThat(/\baccept-encoding\b/i.test(headers.get('Vary') ?? ''), 'Vary does not name Accept-Encoding');
  }
  expectSame('Content-Encoding', compressed.headers.get('Content-Encoding'), 'gzip');
  expectThat(!plain.headers.has('Content-Encoding'), 'it is compressed where the client does not allow it');
  JSON.parse(compressed.text);
  return 'gzip with Accept-Encoding: gzip, plain without';
}

async function listOrders(service: Service): Promise<string> {
  const { status, headers, text } = await service.send('GET', '/store/orders?limit=1');
  expectSame('the status', status, 200);
  expectSame('X-API-Stability', headers.get('X-API-Stability'), 'beta');
  expectThat(Array.isArray(JSON.parse(text)), 'the body is not a list');
  return 'X-API-Stability: beta';
}

async function showDeprecation(service: Service): Promise<string> {
  const { petId } = await service.anEntry();
  const { status, headers } = await service.send('GET', `/pets/${petId}`);
  expectThat(status === 200 || status === 404, `the status is ${status}`);
  const sunset = headers.get('Sunset') ?? '';
  expectThat(/^@\d+$/.test(headers.get('Deprecation') ?? ''), 'the header Deprecation is missing');
  expectThat(Number.isFinite(Date.parse(sunset)), 'the header Sunset is no date');
  const link = headers.get('Link') ?? '';
  expectThat(link.includes('rel="deprecation"') && link.includes('rel="sunset"'), 'Link does not lead to a page');
  return `until ${sunset}`;
}

async function countDown(service: Service): Promise<string> {
  const first = (await service.send('GET', '/inventory?limit=1')).limits;
  const second = (await service.send('GET', '/inventory?limit=1')).limits;
  const [before, after] = [first.minute, second.minute];
  expectThat(before !== undefined && after !== undefined, 'the minute is not named');
  const isNewMinute = after.reset.getTime() - before.reset.getTime() > 30_000;
  const step = before.limit > COUNTED_ONE_BY_ONE ? 0 : 1;
  const counts = `${before.remaining}, then ${after.remaining} of ${before.limit}`;
  expectThat(isNewMinute || after.remaining <= before.remaining - step, counts);
  return isNewMinute ? 'a new minute began' : counts;
}
