import { getEventListeners } from 'node:events';
import { describe, expect, jest, test } from '@jest/globals';
import {
  countOutcomes,
  entry,
  good,
  HeldCalls,
  outcomeOf,
  outcomeOfCall,
  pass,
  refusal,
  REFUSED,
  refused,
  repeat,
  useVirtualTime,
  work,
} from './held-calls.ts';
import { failure, hangUp, quickClient, reply, ScriptedServer, type Step } from './scripted-server.ts';

useVirtualTime();

/** A server with the exact fixed windows and the suspension of the service, by the virtual clock. */
async function limitingServer(perMinute: number, perDay: number) {
  const counts = { minute: 0, minuteUsed: 0, dayUsed: 0, refused: 0, maxRefused: 0, inFlight: 0, maxInFlight: 0 };
  const decide = (): Step => {
    const now = Date.now() / 1_000;
    const minute = Math.floor(now / 60);
    if (minute !== counts.minute) Object.assign(counts, { minute, minuteUsed: 0, refused: 0 });
    const ends = { minute: Math.ceil(60 - (now % 60)), day: Math.ceil(86_400 - (now % 86_400)) };
    const isAdmitted = counts.minuteUsed < perMinute && counts.dayUsed < perDay;
    if (isAdmitted) {
      const [minuteLeft, dayLeft] = [perMinute - ++counts.minuteUsed, perDay - ++counts.dayUsed];
      const limits = `"minute";r=${minuteLeft};t=${ends.minute}, "day";r=${dayLeft};t=${ends.day}`;
      return reply(200, entry, { RateLimit: limits });
    }
    counts.maxRefused = Math.max(counts.maxRefused, ++counts.refused);
    if (counts.refused >= perMinute) return refusal('API_KEY_SUSPENDED', 300);
    return counts.dayUsed < perDay
      ? refusal('RATE_LIMIT_EXCEEDED', ends.minute)
      : refusal('DAILY_QUOTA_EXCEEDED', ends.day);
  };
  const server = await ScriptedServer.start((response, request) => {
    counts.maxInFlight = Math.max(counts.maxInFlight, ++counts.inFlight);
    const step = decide();
    setImmediate(() => {
      counts.inFlight--;
      step(response, request);
    });
  });
  return { server, counts };
}

describe('calls begun together', () => {
  const beginOfDay = 1_795_219_200_000;

  test.each([
    ['Free', 60, 1_000, 2_000, { answered: 1_000, DAILY_QUOTA_EXCEEDED: 1_000 }],
    ['Pro', 300, 10_000, 1_000, { answered: 1_000 }],
    ['20 requests per minute', 20, 1_000, 100, { answered: 100 }],
  ])('on a key for %s are never refused by the service', async (_, perMinute, perDay, count, expected) => {
    jest.setSystemTime(beginOfDay + 10_300);
    const { server, counts } = await limitingServer(perMinute, perDay);
    const store = quickClient(server, { retryDelay: 500 });
    const update = () => outcomeOfCall(store.updateInventory(101n, 7));

    expect(await countOutcomes(server, repeat(count, update))).toEqual(expected);
    expect(counts).toMatchObject({ maxRefused: 0, maxInFlight: 10 });
  });

  test('by two clients of one key are refused at most twice the concurrency per minute, and all succeed', async () => {
    jest.setSystemTime(beginOfDay + 10_300);
    const { server, counts } = await limitingServer(60, 1_000);
    const stores = [quickClient(server, { retryDelay: 500 }), quickClient(server, { retryDelay: 500 })];
    const calls = stores.flatMap((store) => repeat(100, () => outcomeOf(store)));

    expect(await countOutcomes(server, calls)).toEqual({ answered: 200 });
    expect(counts.maxRefused).toBeLessThanOrEqual(20);
  });

  test.each([0, NaN, -1])('are refused with a concurrency of %d', (concurrency) => {
    expect(() => quickClient({ baseUrl: 'http://127.0.0.1/v1' }, { concurrency })).toThrow(TypeError);
  });

  test('begin at most four batches per second, and other calls meanwhile', async () => {
    const times: number[] = [];
    const begin = performance.now();
    const server = await ScriptedServer.start((response, { path, body }) => {
      const [petId = ''] = /\d+/.exec(body) ?? [];
      if (path === '/v1/inventory') times.push(Math.round(performance.now() - begin));
      reply(200, path === '/v1/inventory' ? [{ petId: Number(petId), status: 200, etag: '"1"', item: entry }] : entry)(
        response,
        { method: 'PATCH', path, headers: {}, body },
      );
    });
    const store = quickClient(server);
    const batches = [1n, 2n, 3n, 4n, 5n, 6n].map((petId) => store.updateInventories([{ petId, quantity: 1 }]));
    expect(await outcomeOf(store)).toBe('answered');
    await work();
    expect(times).toHaveLength(1);
    while (times.length < 6) await Promise.all([pass(0.01), work(5)]);
    await Promise.all(batches);

    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
  });

  test('are queued for maxQueueTime, not for timeout', async () => {
    const calls = await HeldCalls.start(4, { concurrency: 2, maxQueueTime: 20_000, timeout: 10_000 }, 2);
    await calls.pass(19.9, 2);
    await calls.pass(0.2, 2, 'timeout', 'timeout');
    await calls.take(good, 1, 'timeout', 'timeout', 'answered');
    await calls.take(good, 0, 'timeout', 'timeout', 'answered', 'answered');
  });

  test('are sent while another one pauses', async () => {
    const calls = await HeldCalls.start(2, { concurrency: 1, maxRetries: 1 }, 1);
    await calls.take(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '30' }), 1);
    await calls.take(good, 0, 'answered');
    await calls.pass(31, 1, 'answered');
  });

  test('are sent after the retry of an earlier one', async () => {
    const paths: string[] = [];
    const server = await ScriptedServer.start((response, request) => {
      paths.push(request.path.slice(-1));
      (paths.length === 1 ? failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '5' }) : good)(response, request);
    });
    const store = quickClient(server, { concurrency: 1 });
    const calls = [1n, 2n, 3n].map((petId) => store.getInventory(petId));
    while (paths.length < 4) await Promise.all([pass(1), work(5)]);
    await Promise.all(calls);

    expect(paths).toEqual(['1', '1', '2', '3']);
  });
});

describe('a call during a restart of the server that takes 30 s', () => {
  test.each([
    ['answered', 90_000, 5],
    ['network', 20_000, 5],
    ['network', 90_000, 0],
  ])('ends as %s within a maxWait of %i ms and %i retries', async (outcome, maxWait, maxRetries) => {
    const begin = performance.now();
    const server = await ScriptedServer.start((response, request) => {
      (performance.now() - begin < 30_000 ? hangUp : good)(response, request);
    });
    const store = quickClient(server, { retryDelay: 500, maxWait, maxRetries });

    const calls = repeat(3, () => outcomeOf(store));
    expect(await countOutcomes(server, calls)).toEqual({ [outcome]: 3 });
  });
});

describe('a signal that many calls share', () => {
  test('has no listener after 200 pauses', async () => {
    const { signal } = new AbortController();
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '1' }));
    const store = quickClient(server, { maxRetries: 10, maxWait: 300_000 });
    const outcomes: string[] = [];
    for (let call = 0; call < 20; call++) void outcomeOf(store, { signal }).then((outcome) => outcomes.push(outcome));
    while (outcomes.length < 20) await Promise.all([pass(1), work(5)]);

    expect(server.requests).toHaveLength(220);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends all of them, waiting or sent, and no turn is lost', async () => {
    const controller = new AbortController();
    const calls = await HeldCalls.start(0);
    calls.begin(25, controller);
    await calls.expect(10);
    controller.abort(new Error('Enough'));
    calls.begin(12);
    await calls.expect(20, ...repeat(25, 'Enough'));

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('leaves no timer behind, which would keep a program from its end', async () => {
    const controller = new AbortController();
    const calls = await refused({ maxQueueTime: 60_000 });
    calls.begin(3, controller);
    expect(jest.getTimerCount()).toBe(4);
    controller.abort(new Error('Enough'));
    await calls.expect(0, REFUSED, 'Enough', 'Enough', 'Enough');
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('calls that a limit rejects leave no timer behind', async () => {
  const code = 'API_KEY_SUSPENDED';
  const calls = await refused({}, code, 300);
  calls.begin(2);
  await calls.expect(0, code, code, code);
  expect(jest.getTimerCount()).toBe(0);
});
