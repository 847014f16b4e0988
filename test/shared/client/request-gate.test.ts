import type { ServerResponse } from 'node:http';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { expectCalls, HeldCalls, outcomeOf, work } from './held-calls.ts';
import {
  reply,
  breakOff,
  failure,
  hangUp,
  quickClient,
  ScriptedServer,
  silence,
  stall,
  type Step,
} from './scripted-server.ts';

const good = reply(200, { petId: 101, quantity: 7, status: 'available' });
const refusal = (code: string, seconds: number): Step => failure(429, code, { 'Retry-After': String(seconds) });
const ofMinute = refusal('RATE_LIMIT_EXCEEDED', 30);
const ofDay = refusal('DAILY_QUOTA_EXCEEDED', 50_000);

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1_000);

/** A server that limits a key as the service does, by the virtual clock, and suspends it as the service does. */
async function limitingServer(perMinute: number) {
  const counts = { minute: 0, used: 0, refused: 0, inFlight: 0, maxInFlight: 0 };
  const decide = (): Step => {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== counts.minute) Object.assign(counts, { minute, used: 0, refused: 0 });
    if (counts.used < perMinute) counts.used++;
    else counts.refused++;
    if (counts.refused >= perMinute) return refusal('API_KEY_SUSPENDED', 300);
    return counts.refused === 0 ? good : refusal('RATE_LIMIT_EXCEEDED', Math.ceil(60 - ((Date.now() / 1_000) % 60)));
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
  test.each([
    [60, ['RATE_LIMIT_EXCEEDED', 'answered']],
    [300, ['answered']],
  ])('never get a key with %i requests per minute suspended', async (perMinute, expected) => {
    jest.setSystemTime(1_795_253_280_000 + 10_000);
    const { server, counts } = await limitingServer(perMinute);
    const store = quickClient(server, { retryDelay: 500 });
    const outcomes: string[] = [];
    for (let call = 0; call < 500; call++) void outcomeOf(store).then((outcome) => outcomes.push(outcome));
    while (outcomes.length < 500) {
      const sent = server.requests.length;
      await work(60);
      if (sent === server.requests.length) await jest.advanceTimersToNextTimerAsync();
    }

    expect([...new Set(outcomes)].toSorted()).toEqual(expected);
    expect(outcomes.filter((outcome) => outcome === 'answered').length).toBe(Math.min(500, 2 * perMinute));
    expect(counts.maxInFlight).toBe(10);
  });

  test.each([0, NaN, -1])('are refused where %d of them may be in flight', (concurrency) => {
    expect(() => quickClient({ baseUrl: 'http://127.0.0.1' }, { concurrency })).toThrow(TypeError);
  });

  test('wait for their turn in maxWait, not in timeout', async () => {
    const calls = await HeldCalls.start({ concurrency: 2, maxWait: 20_000, timeout: 10_000 });
    calls.begin(4);
    await expectCalls(calls, 2, []);
    await pass(19.9);
    await expectCalls(calls, 2, []);
    await pass(0.2);
    await expectCalls(calls, 2, ['timeout', 'timeout']);
    calls.take(good);
    calls.take(good);
    await expectCalls(calls, 0, ['timeout', 'timeout', 'answered', 'answered']);
  });

  test('have their turn while another one pauses', async () => {
    const calls = await HeldCalls.start({ concurrency: 1, maxRetries: 1 });
    calls.begin(2);
    await expectCalls(calls, 1, []);
    calls.take(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '30' }));
    await expectCalls(calls, 1, []);
    calls.take(good);
    await expectCalls(calls, 0, ['answered']);
    await pass(31);
    await expectCalls(calls, 1, ['answered']);
  });
});

const REFUSED = 'RATE_LIMIT_EXCEEDED';

/** A client that was refused for 30 s. */
async function refused(options: Partial<InventoryClientOptions> = {}): Promise<HeldCalls> {
  const calls = await HeldCalls.start(options);
  calls.begin(1);
  await expectCalls(calls, 1, []);
  calls.take(ofMinute);
  await expectCalls(calls, 0, [REFUSED]);
  return calls;
}

describe('after a refusal', () => {
  test('nothing is sent until it ends, then one, and ten others once its headers are there', async () => {
    const calls = await refused();
    calls.begin(15);
    await pass(29.9);
    await expectCalls(calls, 0, [REFUSED]);
    await pass(0.2);
    await expectCalls(calls, 1, [REFUSED]);
    calls.take(stall('{'));
    await expectCalls(calls, 9, [REFUSED]);
  });

  const controller = new AbortController();
  const abort: Step = () => controller.abort(new Error('Enough'));

  test.each<[string, Step, string]>([
    ['fails', hangUp, 'network'],
    ['gets no headers in time', silence, 'timeout'],
    ['is aborted', abort, 'Enough'],
  ])('the next one is sent alone where the first %s', async (_, step, outcome) => {
    const calls = await refused({ timeout: outcome === 'timeout' ? 1_000 : 30_000 });
    calls.begin(1, controller);
    calls.begin(3);
    await pass(30);
    await expectCalls(calls, 1, [REFUSED]);
    calls.take(step);
    await expectCalls(calls, 1, [REFUSED, outcome]);
    calls.take(good);
    await expectCalls(calls, 2, [REFUSED, outcome, 'answered']);
  });

  test('another one is waited for as well, and a call that cannot is rejected at once', async () => {
    const calls = await refused({ maxWait: 45_000 });
    calls.begin(3);
    await pass(30);
    await expectCalls(calls, 1, [REFUSED]);
    calls.take(refusal(REFUSED, 10));
    await expectCalls(calls, 0, [REFUSED, REFUSED]);
    await pass(10);
    await expectCalls(calls, 1, [REFUSED, REFUSED]);
    calls.take(refusal('API_KEY_SUSPENDED', 300));
    await expectCalls(calls, 0, [REFUSED, REFUSED, 'API_KEY_SUSPENDED', 'API_KEY_SUSPENDED']);
  });

  test('a later one never shortens it, and a good response to an earlier request does not end it', async () => {
    const calls = await HeldCalls.start();
    calls.begin(4);
    await expectCalls(calls, 4, []);
    calls.take(ofMinute);
    await expectCalls(calls, 3, [REFUSED]);
    calls.take(refusal('TOO_MANY_REQUESTS', 1));
    await expectCalls(calls, 2, [REFUSED, 'TOO_MANY_REQUESTS']);
    calls.take(good);
    await expectCalls(calls, 1, [REFUSED, 'TOO_MANY_REQUESTS', 'answered']);
    calls.outcomes.length = 0;
    calls.begin(2);
    await pass(29);
    await expectCalls(calls, 1, []);
    await pass(1.1);
    await expectCalls(calls, 2, []);
    calls.take(good);
    await expectCalls(calls, 1, ['answered']);
  });

  test('the next one is sent as soon as it ends, though its body has not come', async () => {
    const calls = await refused();
    calls.begin(2);
    await pass(30);
    await expectCalls(calls, 1, [REFUSED]);
    calls.take(stall('{', 429, { 'Retry-After': '1' }));
    await expectCalls(calls, 0, [REFUSED]);
    await pass(1.1);
    await expectCalls(calls, 1, [REFUSED]);
  });

  test('a body that comes after the next one was answered says nothing', async () => {
    const calls = await HeldCalls.start();
    calls.begin(2);
    await expectCalls(calls, 2, []);
    const begun: ServerResponse[] = [];
    calls.take((response) => {
      response.writeHead(429, { 'Retry-After': '1' }).write('{"code":');
      begun.push(response);
    });
    calls.take(good);
    await expectCalls(calls, 0, ['answered']);
    calls.begin(1);
    await pass(1.1);
    await expectCalls(calls, 1, ['answered']);
    calls.take(good);
    await expectCalls(calls, 0, ['answered', 'answered']);
    begun[0]?.end('"DAILY_QUOTA_EXCEEDED","message":"","status":429}');
    await expectCalls(calls, 0, ['answered', 'answered', 'DAILY_QUOTA_EXCEEDED']);
    calls.begin(2);
    await expectCalls(calls, 2, ['answered', 'answered', 'DAILY_QUOTA_EXCEEDED']);
  });

  test.each([
    ['is truncated', breakOff('{', 429, { 'Retry-After': '30' }), ['broken-off']],
    ['does not come', stall('{', 429, { 'Retry-After': '30' }), []],
  ])('nothing is sent where the body of the refusal %s', async (_, step, outcome) => {
    const calls = await HeldCalls.start();
    calls.begin(12);
    await expectCalls(calls, 10, []);
    calls.take(step);
    await expectCalls(calls, 9, outcome);
    calls.take(good);
    await expectCalls(calls, 8, [...outcome, 'answered']);
    await pass(30.1);
    await expectCalls(calls, 9, [...outcome, 'answered']);
  });
});

describe('while a day is exhausted', () => {
  test('one call a minute is sent, and the others are rejected at once', async () => {
    const times: number[] = [];
    const begin = Date.now();
    const server = await ScriptedServer.start((response, request) => {
      times.push((Date.now() - begin) / 1_000);
      (times.length < 3 ? ofDay : good)(response, request);
    });
    const store = quickClient(server);
    for (let call = 0; call < 80; call++) {
      expect(await outcomeOf(store)).toBe('DAILY_QUOTA_EXCEEDED');
      await pass(1.5);
    }

    expect(times).toEqual([0, 60]);
    const inOneMinute = Array.from({ length: 3 }, () => outcomeOf(store));
    expect(await Promise.all(inOneMinute)).toEqual(['answered', 'DAILY_QUOTA_EXCEEDED', 'DAILY_QUOTA_EXCEEDED']);
    expect(await outcomeOf(store)).toBe('answered');
    expect(times).toEqual([0, 60, 120, 120]);
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
    const calls = await HeldCalls.start();
    calls.begin(25, controller);
    await expectCalls(calls, 10, []);
    controller.abort(new Error('Enough'));
    calls.begin(12);
    await expectCalls(
      calls,
      20,
      Array.from({ length: 25 }, () => 'Enough'),
    );

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('leaves no timer behind, which would keep a program from its end', async () => {
    const controller = new AbortController();
    const calls = await HeldCalls.start();
    calls.begin(1);
    await expectCalls(calls, 1, []);
    calls.take(ofMinute);
    await expectCalls(calls, 0, [REFUSED]);
    calls.begin(3, controller);
    expect(jest.getTimerCount()).toBe(4);
    controller.abort(new Error('Enough'));
    await expectCalls(calls, 0, [REFUSED, 'Enough', 'Enough', 'Enough']);
    expect(jest.getTimerCount()).toBe(0);
  });
});
