import { getEventListeners } from 'node:events';
import { describe, expect, jest, test } from '@jest/globals';
import {
  countOutcomes,
  expectAfter,
  HeldCalls,
  inVirtualTime,
  outcomeOf,
  REFUSED,
  useVirtualTime,
} from './held-calls.ts';
import { clientOf, entry, failure, good, hangUp, refusal, repeat, reply, type Step } from './scripted-fetch.ts';

useVirtualTime();

const unavailable = failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '30' });
const BEGIN_OF_DAY = 1_795_219_200_000;

/** A script with the exact fixed windows of the service, by the virtual clock. */
function limitingScript(perMinute: number, perDay: number) {
  jest.setSystemTime(BEGIN_OF_DAY + 10_300);
  const counts = { minute: 0, minuteUsed: 0, dayUsed: 0, refused: 0, maxRefused: 0 };
  const script: Step = (request) => {
    const now = Date.now() / 1_000;
    const minute = Math.floor(now / 60);
    if (minute !== counts.minute) Object.assign(counts, { minute, minuteUsed: 0, refused: 0 });
    const ends = { minute: Math.ceil(60 - (now % 60)), day: Math.ceil(86_400 - (now % 86_400)) };
    if (counts.minuteUsed < perMinute && counts.dayUsed < perDay) {
      const [minuteLeft, dayLeft] = [perMinute - ++counts.minuteUsed, perDay - ++counts.dayUsed];
      const RateLimit = `"minute";r=${minuteLeft};t=${ends.minute}, "day";r=${dayLeft};t=${ends.day}`;
      return reply(200, entry, { RateLimit })(request);
    }
    counts.maxRefused = Math.max(counts.maxRefused, ++counts.refused);
    const isOfDay = counts.dayUsed === perDay;
    return (isOfDay ? refusal('DAILY_QUOTA_EXCEEDED', ends.day) : refusal(REFUSED, ends.minute))(request);
  };
  return { script, counts };
}

describe('Concurrent calls', () => {
  test.each([
    [1, '60 per minute and 1,000 per day', 60, 1_000, 2_000, { answered: 1_000, DAILY_QUOTA_EXCEEDED: 1_000 }, 0],
    [1, '20 per minute', 20, 1_000, 100, { answered: 100 }, 0],
    // In a minute, each client may be refused with its ten requests.
    [2, '60 per minute', 60, 1_000, 100, { answered: 200 }, 20],
  ])('of %i clients with one key for %s stay within the limits', async (...row) => {
    const [clients, , perMinute, perDay, count, expected, maxRefused] = row;
    const { script, counts } = limitingScript(perMinute, perDay);
    const stores = repeat(clients, script).map((one) => clientOf(one, { retryDelay: 500 }).store);
    const calls = stores.flatMap((store) => Array.from({ length: count }, () => store.updateInventory(101n, 7)));

    expect(await countOutcomes(calls)).toEqual(expected);
    expect(counts.maxRefused).toBeLessThanOrEqual(maxRefused);
  });

  test('begin at most four batches per second, and other calls meanwhile', async () => {
    const times: number[] = [];
    const { store } = clientOf((request) => {
      const isBatch = request.path === '/v1/inventory';
      if (isBatch) times.push(performance.now());
      return reply(200, isBatch ? [{ petId: 101, status: 200, etag: '"1"', item: entry }] : entry)(request);
    });
    const begin = performance.now();
    const batches = Array.from({ length: 4 }, () => store.updateInventories([{ petId: 101n, quantity: 1 }]));
    expect(await outcomeOf(store.getInventory(101n))).toBe('answered');
    expect(times).toHaveLength(1);
    await inVirtualTime(Promise.all(batches), 0);

    expect(times.map((time) => Math.round(time - begin))).toEqual([0, 250, 500, 750]);
  });

  test('are queued for maxQueueTime, which timeout does not shorten', async () => {
    const calls = new HeldCalls({ concurrency: 2, maxQueueTime: 20_000, timeout: 10_000 });
    await expectAfter(calls.begin(4), { held: 2 });
    await expectAfter(calls.pass(19.9), { held: 2 });
    await expectAfter(calls.pass(0.2), { held: 2, ended: ['queued', 'queued'] });
    await expectAfter(calls.respond(good), { held: 1, ended: ['answered'] });
  });

  test('are sent while another one pauses before its retry', async () => {
    const calls = new HeldCalls({ concurrency: 1, maxRetries: 1 });
    await expectAfter(calls.begin(2), { held: 1 });
    await expectAfter(calls.respond(unavailable), { held: 1 });
    await expectAfter(calls.respond(good), { held: 0, ended: ['answered'] });
    await expectAfter(calls.pass(31), { held: 1 });
  });

  test('are sent after the retry of an earlier one that was refused', async () => {
    const { store, requests } = clientOf([refusal(REFUSED, 5), good], { concurrency: 1 });
    const calls = [1n, 2n, 3n].map((petId) => store.getInventory(petId));
    await inVirtualTime(Promise.all(calls), 0);

    expect(requests.map(({ path }) => path.slice(-1))).toEqual(['1', '1', '2', '3']);
  });
});

test('A call pauses twice as long before each retry up to 20 s, with a jitter of half of that', async () => {
  const { signal } = new AbortController();
  const calls = new HeldCalls({ maxRetries: 4, retryDelay: 5_000 });
  await expectAfter(calls.begin(1, { signal }), { held: 1 });
  for (const longest of [5, 10, 20, 20]) {
    await expectAfter(calls.respond(failure(500, 'INTERNAL_ERROR')), { held: 0 });
    await expectAfter(calls.pass(longest / 2 - 0.01), { held: 0 });
    await expectAfter(calls.pass(longest / 2 + 0.02), { held: 1 });
  }
  await expectAfter(calls.respond(good), { held: 0, ended: ['answered'] });

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([
  ['answered', 90_000, 5],
  ['network', 20_000, 5],
  ['network', 90_000, 0],
])(
  'A call during a restart of 30 s ends with "%s" if maxWait is %i ms and maxRetries %i',
  async (outcome, maxWait, maxRetries) => {
    const begin = performance.now();
    const script: Step = (request) => (performance.now() - begin < 30_000 ? hangUp : good)(request);
    const { store } = clientOf(script, { retryDelay: 500, maxWait, maxRetries });

    const calls = Array.from({ length: 3 }, () => store.getInventory(101n));
    expect(await countOutcomes(calls)).toEqual({ [outcome]: 3 });
  },
);

describe('A signal that many calls share', () => {
  test('ends all of them, sent or queued or not begun, and leaves their places to other calls', async () => {
    const controller = new AbortController();
    const calls = new HeldCalls();
    await expectAfter(calls.begin(25, controller), { held: 10 });
    controller.abort(new Error('Enough'));
    await expectAfter(calls.begin(12), { held: 20, ended: repeat(25, 'Enough') });
    await expectAfter(calls.begin(1, controller), { held: 20, ended: ['Enough'] });

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('ends pauses and queued calls, and leaves no timer, which would keep a program running', async () => {
    const controller = new AbortController();
    const calls = new HeldCalls({ maxRetries: 1, maxQueueTime: 60_000 });
    await expectAfter(calls.begin(2, controller), { held: 2 });
    await expectAfter(calls.respond(unavailable), { held: 1 });
    await expectAfter(calls.respond(refusal(REFUSED, 30)), { held: 0 });
    calls.begin(3, controller);
    expect(jest.getTimerCount()).toBe(6);
    controller.abort(new Error('Enough'));
    await expectAfter(calls, { held: 0, ended: repeat(5, 'Enough') });
    expect(jest.getTimerCount()).toBe(0);
  });
});
