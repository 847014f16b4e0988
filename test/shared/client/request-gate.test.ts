import { describe, expect, test } from '@jest/globals';
import {
  countOutcomes,
  entry,
  good,
  HeldCalls,
  outcomeOf,
  pass,
  refusal,
  REFUSED,
  refused,
  repeat,
  useVirtualTime,
} from './held-calls.ts';
import {
  breakOff,
  failure,
  failuresOf,
  hangUp,
  quickClient,
  reply,
  ScriptedServer,
  silence,
  stall,
  type Step,
} from './scripted-server.ts';

useVirtualTime();

const SUSPENDED = 'API_KEY_SUSPENDED';
const ofMinute = refusal(REFUSED, 30);

const limits = (minute: string, day = 'r=900;t=50000'): Step =>
  reply(200, entry, { RateLimit: `"minute";${minute}, "day";${day}` });

/** The calls that are sent after responses with these remaining quotas. */
async function sentAfter(responses: readonly Step[], inFlight: number): Promise<HeldCalls> {
  const calls = await HeldCalls.start(responses.length + inFlight);
  for (const [index, step] of responses.entries())
    await calls.take(step, responses.length + inFlight - index - 1, ...repeat(index + 1, 'answered'));
  calls.outcomes.length = 0;
  calls.begin(20);
  return calls;
}

describe('a window of the limit', () => {
  test.each<[string, readonly Step[], number, number]>([
    ['limits what is in flight', [limits('r=4;t=30')], 0, 4],
    ['has what remains less what is in flight', [limits('r=4;t=30')], 3, 4],
    ['counts by its lowest remaining quota', [limits('r=4;t=30'), limits('r=6;t=30')], 0, 4],
    ['may be the day', [limits('r=50;t=30', 'r=3;t=50000')], 0, 3],
    ['is unknown without headers', [good], 0, 10],
  ])('%s', async (_, responses, inFlight, sent) => {
    const calls = await sentAfter(responses, inFlight);
    await calls.expect(sent);
  });

  test('begins anew after its seconds, with what is still in flight', async () => {
    const calls = await sentAfter([limits('r=4;t=30')], 3);
    await calls.expect(4);
    await calls.pass(30.1, 10);
    await calls.take(limits('r=9;t=60'), 9, 'answered');
  });

  test('is tried with one request after its end if it was exhausted', async () => {
    const calls = await sentAfter([limits('r=0;t=30')], 0);
    await calls.pass(29.9, 0);
    await calls.pass(0.2, 1);
    await calls.take(limits('r=7;t=60'), 7, 'answered');
  });

  test('has no limits in a 401', async () => {
    const none = { RateLimit: '"minute";r=0;t=30, "day";r=0;t=50000' };
    const calls = await sentAfter([limits('r=50;t=30')], 0);
    await calls.expect(10);
    await calls.take(failure(401, 'API_KEY_INVALID', none), 10, 'API_KEY_INVALID');
  });
});

describe('after a refusal', () => {
  test('nothing is sent until it ends, then one, and ten others once its headers arrive', async () => {
    const calls = await refused();
    calls.begin(15);
    await calls.pass(29.9, 0, REFUSED);
    await calls.pass(0.2, 1, REFUSED);
    await calls.take(stall('{'), 9, REFUSED);
  });

  const controller = new AbortController();
  const abort: Step = () => controller.abort(new Error('Enough'));

  test.each<[string, Step, string]>([
    ['fails', hangUp, 'network'],
    ['gets no headers in time', silence, 'timeout'],
    ['is aborted', abort, 'Enough'],
  ])('the next one is sent alone if the first %s', async (_, step, outcome) => {
    const calls = await refused({ timeout: outcome === 'timeout' ? 1_000 : 30_000 });
    calls.begin(1, controller);
    calls.begin(3);
    await calls.pass(30, 1, REFUSED);
    await calls.take(step, 1, REFUSED, outcome);
    await calls.take(good, 2, REFUSED, outcome, 'answered');
  });

  test('another refusal is waited for as well, and a call that cannot is rejected immediately', async () => {
    const calls = await refused({ maxQueueTime: 45_000 });
    calls.begin(3);
    await calls.pass(30, 1, REFUSED);
    await calls.take(refusal(REFUSED, 10), 0, REFUSED, REFUSED);
    await calls.pass(10, 1, REFUSED, REFUSED);
    await calls.take(refusal(SUSPENDED, 300), 0, REFUSED, REFUSED, SUSPENDED, SUSPENDED);
  });

  test('neither a shorter one nor a good response to an earlier request ends it', async () => {
    const calls = await HeldCalls.start(3);
    await calls.take(ofMinute, 2, REFUSED);
    await calls.take(refusal('TOO_MANY_REQUESTS', 1), 1, REFUSED, 'TOO_MANY_REQUESTS');
    await calls.take(good, 0, REFUSED, 'TOO_MANY_REQUESTS', 'answered');
    calls.outcomes.length = 0;
    calls.begin(2);
    await calls.pass(29, 0);
    await calls.pass(1.1, 1);
  });

  test('the time until its end counts in maxQueueTime, over all retries, and not in maxWait', async () => {
    const calls = await HeldCalls.start(1, { maxRetries: 5, maxWait: 0, maxQueueTime: 45_000 });
    await calls.take(ofMinute, 0);
    await calls.pass(30.1, 1);
    await calls.take(ofMinute, 0);
    await calls.pass(1, 0, REFUSED);
  });

  test('nothing is sent if its body is truncated', async () => {
    const calls = await HeldCalls.start(12, {}, 10);
    await calls.take(breakOff('{', 429, { 'Retry-After': '30' }), 9, 'UNEXPECTED_RESPONSE');
  });
});

describe('a long refusal', () => {
  test.each([
    ['DAILY_QUOTA_EXCEEDED', 50_000],
    ['DAILY_QUOTA_EXCEEDED', 30],
    ['API_KEY_SUSPENDED', 3_600],
    ['API_KEY_SUSPENDED', 30],
    ['OF_A_PROXY', 61],
  ])('%s for %i s rejects each queued call with an error of its own', async (code, seconds) => {
    const server = await ScriptedServer.start(refusal(code, seconds));
    const store = quickClient(server, { concurrency: 1, maxRetries: 0 });
    const errors = await failuresOf(repeat(3, () => store.getInventory(101n)));

    expect(new Set(errors).size).toBe(3);
    const unsent = { requestId: undefined, response: undefined, status: 429 };
    const own = { name: 'ApiError', code, retryAfter: seconds, ...unsent, message: `Not sent: This is ${code}.` };
    expect(errors).toMatchObject([{ code, status: 429, retryAfter: seconds }, own, own]);
    await pass(20.5);
    expect(await failuresOf([() => store.getInventory(101n)])).toMatchObject([{ code, retryAfter: seconds - 20 }]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([SUSPENDED, 'DAILY_QUOTA_EXCEEDED'])(
    '%s is tried by one call a minute later, whose response holds for the others',
    async (code) => {
      const calls = await refused({}, code, 3_600);
      const begin = async (count: number, held: number): Promise<void> => {
        calls.outcomes.length = 0;
        calls.begin(count);
        await calls.expect(held, ...repeat(held > 0 ? 0 : count, code));
      };
      await pass(59);
      await begin(2, 0);
      await pass(1);
      await begin(3, 1);
      await calls.take(refusal(code, 3_600), 0, code, code, code);
      await pass(59);
      await begin(2, 0);
      await pass(1);
      await begin(12, 1);
      await calls.take(good, 10, 'answered');
    },
  );

  test('is waited for within maxQueueTime, and ends when the key is resumed', async () => {
    const begin = performance.now();
    let sent = 0;
    const server = await ScriptedServer.start((response, request) => {
      sent = (performance.now() - begin) / 1_000;
      (sent < 600 ? refusal(SUSPENDED, 3_600) : good)(response, request);
    });
    const store = quickClient(server, { maxQueueTime: Infinity });
    const calls = repeat(5, () => outcomeOf(store));

    expect(await countOutcomes(server, calls)).toEqual({ answered: 5 });
    expect(sent).toBeGreaterThanOrEqual(600);
    expect(sent).toBeLessThan(661);
  });

  test('is replaced by a shorter one when it is tried', async () => {
    const calls = await refused({}, SUSPENDED, 3_600);
    await pass(60);
    calls.begin(1);
    await calls.expect(1, SUSPENDED);
    await calls.take(refusal(REFUSED, 5), 0, SUSPENDED, REFUSED);
    calls.begin(1);
    await calls.pass(4.9, 0, SUSPENDED, REFUSED);
    await calls.pass(0.2, 1, SUSPENDED, REFUSED);
  });

  test('of an exhausted day needs no refusal, and is tried a minute later', async () => {
    const server = await ScriptedServer.start(reply(200, entry, { RateLimit: '"minute";r=9;t=30, "day";r=0;t=50000' }));
    const store = quickClient(server);
    expect(await outcomeOf(store)).toBe('answered');
    const message = 'Not sent: The limit per day is exhausted.';
    const expected = { code: 'DAILY_QUOTA_EXCEEDED', retryAfter: 50_000, message };
    expect(await failuresOf([() => store.getInventory(101n)])).toMatchObject([expected]);
    expect(server.requests).toHaveLength(1);
    await pass(60);
    expect(await outcomeOf(store)).toBe('answered');
  });
});
