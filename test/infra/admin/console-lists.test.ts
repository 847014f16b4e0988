import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { BASE, Visitor } from './console-visitor.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';
import { aKey } from '../../support/tables.ts';

const world = new InProcessTarget();
let visitor: Visitor;

beforeEach(async () => {
  world.reset();
  visitor = await new Visitor(world.target).letIn();
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => world.close());

test('the overview adds up the usage of all keys, and lists those that need attention', async () => {
  const currentMinute = Math.floor(Date.now() / 60_000);
  jest.spyOn(Date, 'now').mockReturnValue(currentMinute * 60_000);
  const used = { currentMinute, minuteUsed: 2, dayRefused: 3, dayUsed: 4 };
  await world.issue(aKey({ keyId: 'a', name: 'A', revision: 1, ...used }), 'free');
  await world.issue(aKey({ keyId: 'b', name: 'B', revision: 1, ...used, dayUsed: 950 }), 'free');
  const soon = Date.now() + 86_400_000;
  await world.issue(aKey({ keyId: 'c', name: 'C', revision: 1, expiresAtMs: soon }), 'free');
  await world.issue(aKey({ keyId: 'd', name: 'D', revision: 1, suspendedUntil: soon }), 'free');
  const page = await visitor.page('/overview');
  const listed = (title: string) =>
    page
      .split(`aria-label="${title}"`)[1]
      ?.split('</table>')[0]
      ?.match(/href="keys\/\w"/g);

  const figures = [...page.matchAll(/<dd>(.+?)<\/dd>/g)].map(([, text]) => text);
  expect(figures.slice(0, 4)).toEqual(['954', '4', '6', '2 of 4']);
  expect(listed('Above 80 % of a limit')).toEqual(['href="keys/b"']);
  expect(listed('Refused today')).toEqual(['href="keys/a"', 'href="keys/b"']);
  expect(listed('Expire within 14 days')).toEqual(['href="keys/c"']);
  expect(listed('Suspended automatically')).toEqual(['href="keys/d"']);
  expect(page).not.toContain('Suspended by an admin');
});

test('the overview draws days: stored totals, and for today the counters of the records', async () => {
  const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  for (const keyId of ['a', 'b']) {
    const used = { currentMinute: Math.floor(Date.now() / 60_000), dayUsed: 3, dayRefused: 1 };
    await world.issue(aKey({ keyId, name: keyId, revision: 1, ...used }), 'free');
  }
  world.usage = [marshall({ recordId: 'ALL', day: date, used: 20, refused: 0 })];
  const page = await visitor.page('/overview');

  expect(page).toContain(`<title>${date}: 20 admitted, 0 refused</title>`);
  expect(page).toMatch(/: 6 admitted, 2 refused<\/title>/);
});

/** The keys in the list at a query. */
const idsAt = async (query: string) =>
  [...(await visitor.page(`/keys?${query}`)).matchAll(/href="keys\/(\w+)">K|href="keys\/(pro)"/g)].map(
    ([, id, pro]) => id ?? pro,
  );

test('the list of keys is filtered and paged, and ignores invalid queries', async () => {
  for (let at = 10; at < 62; at++) await world.issue(aKey({ keyId: `k${at}`, name: `K${at}`, revision: 1 }), 'free');
  await world.issue(aKey({ keyId: 'pro', name: 'Pro', plan: 'pro', revision: 1, enabled: false }), 'pro');
  const { headers } = await visitor.post('/keys', { q: 'PRO', plan: '', state: '' });
  const found = headers.get('Location')?.split('?')[1] ?? '';
  expect(found).not.toContain('PRO');
  expect((await idsAt('')).length).toBe(50);
  expect(await idsAt('page=2')).toEqual(['k60', 'k61', 'pro']);
  for (const query of [found, 'plan=pro', 'state=disabled&plan=constructor'])
    expect(await idsAt(query)).toEqual(['pro']);
  expect((await idsAt('state=__proto__')).length).toBe(50);
  expect((await idsAt('page=Infinity')).length).toBe(3);
  expect((await idsAt('sort=-name')).slice(0, 2)).toEqual(['pro', 'k61']);
});

test('the list of keys says who suspended a key, and sorts by a column', async () => {
  const until = (Math.floor(Date.now() / 86_400_000) + 2) * 86_400_000;
  const currentMinute = Math.floor(Date.now() / 60_000);
  const used = { currentMinute, dayUsed: 5 };
  await world.issue(aKey({ keyId: 'a', name: 'A', revision: 1, suspendedUntil: until }), 'free');
  await world.issue(aKey({ keyId: 'b', name: 'B', revision: 1, ...used }), 'free');
  await world.issue(
    aKey({ keyId: 'c', name: 'C', revision: 1, suspendedUntil: until, suspendedByAdmin: true, ...used, dayUsed: 9 }),
    'free',
  );
  const order = async (sort: string) =>
    [...(await visitor.page(`/keys?sort=${sort}`)).matchAll(/href="keys\/(\w)"/g)].map(([, id]) => id);

  const page = await visitor.page('/keys');
  expect(page).toContain(`>suspended automatically until ${new Date(until).toISOString().slice(0, 10)} 00:00 UTC<`);
  expect(page).toContain('>suspended by an admin until ');
  expect(page).toContain('sort=today">Today</a>');
  expect(await visitor.page('/keys?sort=today')).toContain('sort=-today">Today ↓</a>');
  expect(await order('today')).toEqual(['c', 'b', 'a']);
  expect(await order('-today')).toEqual(['a', 'b', 'c']);
  expect(await order('state')).toEqual(['b', 'c', 'a']);
  expect(await order('__proto__')).toEqual(['a', 'b', 'c']);
});

test('the search finds the key of a token, and puts no token into an address', async () => {
  const [token = ''] = (await (await visitor.create('acme')).text()).match(KEY_PATTERN) ?? [];
  const [{ keyId = '' } = aKey()] = await world.keys();
  const search = (q: string) => visitor.post('/keys', { q, plan: 'free', state: '' });

  const found = (await search(` ${token} `)).headers.get('Location') ?? '';
  expect(found).toMatch(new RegExp(`^${BASE}/keys/${keyId}\\?done=[\\w-]{36}$`));
  expect(await (await visitor.request(found)).text()).toMatch(/role="status">It belongs to acme .* is valid /);
  // Once: a reload does not repeat it.
  expect(await (await visitor.request(found)).text()).not.toContain('role="status"');
  const byEnd = await visitor.follow(search(token.slice(-4)));
  expect(byEnd).toMatch(new RegExp(`name="q"[^>]+value="${token.slice(-4)}"[^]+href="keys/${keyId}"`));
  for (const wrong of [token.slice(0, -1), token.slice(5)]) {
    const response = await search(wrong);
    expect({ status: response.status, location: response.headers.get('Location') }).toEqual({
      status: 422,
      location: null,
    });
    expect(await response.text()).not.toContain(wrong);
  }
});
