import { describe, expect, jest, test } from '@jest/globals';
import { countOutcomes, expectAfter, HeldCalls, pass, REFUSED, useVirtualTime } from './held-calls.ts';
import {
  breakOff,
  clientOf,
  entry,
  failure,
  good,
  hangUp,
  refusal,
  repeat,
  reply,
  stall,
  type Step,
} from './scripted-fetch.ts';
import { failureOf } from './scripted-server.ts';

useVirtualTime();

const SUSPENDED = 'API_KEY_SUSPENDED';

const limits = (minute: string, day = 'r=900;t=50000'): Step =>
  reply(200, entry, { RateLimit: `"minute";${minute}, "day";${day}` });

/** Twenty more calls after these responses, next to some that are in flight. */
async function callsAfter(responses: readonly Step[], inFlight = 0): Promise<HeldCalls> {
  const calls = new HeldCalls();
  let left = responses.length + inFlight;
  await expectAfter(calls.begin(left), { held: left });
  for (const step of responses) await expectAfter(calls.respond(step), { held: --left, ended: ['answered'] });
  return calls.begin(20);
}

describe('A window of the limit', () => {
  test.each<[string, readonly Step[], inFlight: number, held: number]>([
    ['limits the requests in flight to its remaining quota', [limits('r=4;t=30')], 0, 4],
    ['counts the requests that were in flight before', [limits('r=4;t=30')], 3, 4],
    ['goes by its lowest remaining quota', [limits('r=4;t=30'), limits('r=6;t=30')], 0, 4],
    ['may be the day', [limits('r=50;t=30', 'r=3;t=50000')], 0, 3],
    ['leaves the concurrency as it is if the response has no headers', [good], 0, 10],
  ])('%s', async (_, responses, inFlight, held) => {
    await expectAfter(callsAfter(responses, inFlight), { held });
  });

  test('starts again after its seconds, and counts the requests that are still in flight', async () => {
    const calls = await expectAfter(callsAfter([limits('r=4;t=30')], 3), { held: 4 });
    await expectAfter(calls.pass(30.1), { held: 10 });
    await expectAfter(calls.respond(limits('r=9;t=60')), { held: 9, ended: ['answered'] });
  });

  test('that is exhausted holds all requests until it ends, then lets one try', async () => {
    const calls = await expectAfter(callsAfter([limits('r=0;t=30')]), { held: 0 });
    await expectAfter(calls.pass(29.9), { held: 0 });
    await expectAfter(calls.pass(0.2), { held: 1 });
    await expectAfter(calls.respond(limits('r=7;t=60')), { held: 7, ended: ['answered'] });
  });

  test('is not changed by the headers of a 401', async () => {
    const calls = await expectAfter(callsAfter([limits('r=50;t=30')]), { held: 10 });
    const none = { RateLimit: '"minute";r=0;t=30, "day";r=0;t=50000' };
    await expectAfter(calls.respond(failure(401, 'API_KEY_INVALID', none)), { held: 10, ended: ['API_KEY_INVALID'] });
  });

  test('of an exhausted day refuses calls without a request, and lets one try a minute later', async () => {
    const calls = await callsAfter([limits('r=9;t=30', 'r=0;t=50000')]);
    await expectAfter(calls, { held: 0, ended: repeat(20, 'DAILY_QUOTA_EXCEEDED') });
    await expectAfter(calls.pass(59), { held: 0 });
    await expectAfter(calls.pass(1), { held: 0 });
    await expectAfter(calls.begin(2), { held: 1 });
  });
});

describe('A refusal', () => {
  test('holds all requests until it ends, then all but one until its headers arrive', async () => {
    const calls = await HeldCalls.refused(REFUSED, 30);
    await expectAfter(calls.begin(15), { held: 0 });
    await expectAfter(calls.pass(29.9), { held: 0 });
    await expectAfter(calls.pass(0.2), { held: 1 });
    await expectAfter(calls.respond(stall), { held: 9 });
  });

  const controller = new AbortController();

  test.each<[string, Step, string]>([
    ['fails', hangUp, 'network'],
    ['is aborted', () => Promise.reject(controller.abort(new Error('Enough'))), 'Enough'],
  ])('lets the next request try alone if the first one after it %s', async (_, step, outcome) => {
    const calls = await HeldCalls.refused(REFUSED, 30);
    await expectAfter(calls.begin(1, controller), { held: 0 });
    await expectAfter(calls.begin(3), { held: 0 });
    await expectAfter(calls.pass(30), { held: 1 });
    await expectAfter(calls.respond(step), { held: 1, ended: [outcome] });
    await expectAfter(calls.respond(good), { held: 2, ended: ['answered'] });
  });

  test('after another one is waited for too, and rejects a call immediately that cannot wait for it', async () => {
    const calls = await HeldCalls.refused(REFUSED, 30, { maxQueueTime: 45_000 });
    await expectAfter(calls.begin(3), { held: 0 });
    await expectAfter(calls.pass(30), { held: 1 });
    await expectAfter(calls.respond(refusal(REFUSED, 10)), { held: 0, ended: [REFUSED] });
    await expectAfter(calls.pass(10), { held: 1 });
    await expectAfter(calls.respond(refusal(SUSPENDED, 300)), { held: 0, ended: [SUSPENDED, SUSPENDED] });
  });

  test('is neither shortened by a later one nor ended by the response to an earlier request', async () => {
    const calls = new HeldCalls();
    await expectAfter(calls.begin(3), { held: 3 });
    await expectAfter(calls.respond(refusal(REFUSED, 30)), { held: 2, ended: [REFUSED] });
    await expectAfter(calls.respond(refusal('TOO_MANY_REQUESTS', 1)), { held: 1, ended: ['TOO_MANY_REQUESTS'] });
    await expectAfter(calls.respond(good), { held: 0, ended: ['answered'] });
    await expectAfter(calls.begin(2), { held: 0 });
    await expectAfter(calls.pass(29), { held: 0 });
    await expectAfter(calls.pass(1.1), { held: 1 });
  });

  test('counts in maxQueueTime, over all retries, and not in maxWait', async () => {
    const calls = new HeldCalls({ maxRetries: 5, maxWait: 0, maxQueueTime: 45_000 });
    await expectAfter(calls.begin(1), { held: 1 });
    await expectAfter(calls.respond(refusal(REFUSED, 30)), { held: 0 });
    await expectAfter(calls.pass(30.1), { held: 1 });
    await expectAfter(calls.respond(refusal(REFUSED, 30)), { held: 0 });
    await expectAfter(calls.pass(1), { held: 0, ended: [REFUSED] });
  });

  test('holds all requests even if its body is truncated', async () => {
    const calls = new HeldCalls();
    await expectAfter(calls.begin(12), { held: 10 });
    await expectAfter(calls.respond(breakOff(429, { 'Retry-After': '30' })), {
      held: 9,
      ended: ['UNEXPECTED_RESPONSE'],
    });
  });
});

describe('A long refusal', () => {
  test.each([
    ['DAILY_QUOTA_EXCEEDED', 30],
    [SUSPENDED, 30],
    ['OF_A_PROXY', 61],
  ])('%s for %i s rejects each queued call with an error of its own', async (code, seconds) => {
    const { store, requests } = clientOf(refusal(code, seconds), { concurrency: 1, maxRetries: 0 });
    const errors = await Promise.all([101n, 102n, 103n].map((petId) => failureOf(store.getInventory(petId))));

    expect(new Set(errors).size).toBe(3);
    const unsent = { requestId: undefined, response: undefined, status: 429 };
    const own = { name: 'ApiError', code, retryAfter: seconds, ...unsent, message: `Not sent: This is ${code}.` };
    expect(errors).toMatchObject([{ code, status: 429, retryAfter: seconds }, own, own]);
    await pass(20.5);
    expect(await failureOf(store.getInventory(101n))).toMatchObject({ code, retryAfter: seconds - 20 });
    expect(requests).toHaveLength(1);
  });

  test('lets one call try each minute, and its response holds for the others', async () => {
    const calls = await HeldCalls.refused(SUSPENDED, 3_600);
    await expectAfter(calls.pass(59), { held: 0 });
    await expectAfter(calls.begin(2), { held: 0, ended: [SUSPENDED, SUSPENDED] });
    // A timer would keep a program running.
    expect(jest.getTimerCount()).toBe(0);
    await expectAfter(calls.pass(1), { held: 0 });
    await expectAfter(calls.begin(3), { held: 1 });
    await expectAfter(calls.respond(refusal(SUSPENDED, 3_600)), { held: 0, ended: repeat(3, SUSPENDED) });
    await expectAfter(calls.pass(59), { held: 0 });
    await expectAfter(calls.begin(1), { held: 0, ended: [SUSPENDED] });
    await expectAfter(calls.pass(1), { held: 0 });
    await expectAfter(calls.begin(12), { held: 1 });
    await expectAfter(calls.respond(good), { held: 10, ended: ['answered'] });
  });

  test('is waited for with maxQueueTime: Infinity, and ends within a minute after the key is resumed', async () => {
    const begin = performance.now();
    let sent = 0;
    const step: Step = (request) => {
      sent = (performance.now() - begin) / 1_000;
      return (sent < 600 ? refusal(SUSPENDED, 3_600) : good)(request);
    };
    const { store } = clientOf(step, { maxQueueTime: Infinity });

    const calls = Array.from({ length: 5 }, () => store.getInventory(101n));
    expect(await countOutcomes(calls)).toEqual({ answered: 5 });
    expect(sent).toBeGreaterThanOrEqual(600);
    expect(sent).toBeLessThan(661);
  });

  test('is replaced by a shorter one that its trial gets', async () => {
    const calls = await HeldCalls.refused(SUSPENDED, 3_600);
    await expectAfter(calls.pass(60), { held: 0 });
    await expectAfter(calls.begin(1), { held: 1 });
    await expectAfter(calls.respond(refusal(REFUSED, 5)), { held: 0, ended: [REFUSED] });
    await expectAfter(calls.begin(1), { held: 0 });
    await expectAfter(calls.pass(4.9), { held: 0 });
    await expectAfter(calls.pass(0.2), { held: 1 });
  });
});
