import { describe, expect, test } from '@jest/globals';
import {
  countOutcomes,
  entry,
  expectCalls,
  good,
  HeldCalls,
  outcomeOf,
  pass,
  refusal,
  REFUSED,
  refused,
  repeat,
  useVirtualTime,
  work,
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

const ofMinute = refusal(REFUSED, 30);

const limits = (minute: string, day = 'r=900;t=50000'): Step =>
  reply(200, entry, { RateLimit: `"minute";${minute}, "day";${day}` });

/** The calls that are sent after responses with these remaining quotas. */
async function sentAfter(responses: readonly Step[], inFlight: number): Promise<HeldCalls> {
  const calls = await HeldCalls.start();
  calls.begin(responses.length + inFlight);
  await expectCalls(calls, responses.length + inFlight, []);
  responses.forEach((step) => calls.take(step));
  await expectCalls(calls, inFlight, repeat(responses.length, 'answered'));
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
    await expectCalls(await sentAfter(responses, inFlight), sent, []);
  });

  test('begins anew after its seconds, with what is still in flight', async () => {
    const calls = await sentAfter([limits('r=4;t=30')], 3);
    await expectCalls(calls, 4, []);
    await pass(30.1);
    await expectCalls(calls, 10, []);
    calls.take(limits('r=9;t=60'));
    await expectCalls(calls, 9, ['answered']);
  });

  test('that is exhausted is waited for, then tried with one request', async () => {
    const calls = await sentAfter([limits('r=0;t=30')], 0);
    await pass(29.9);
    await expectCalls(calls, 0, []);
    await pass(0.2);
    await expectCalls(calls, 1, []);
    calls.take(limits('r=7;t=60'));
    await expectCalls(calls, 7, ['answered']);
  });

  test('has no limits in a 401', async () => {
    const none = { RateLimit: '"minute";r=0;t=30, "day";r=0;t=50000' };
    const calls = await sentAfter([limits('r=50;t=30')], 0);
    await expectCalls(calls, 10, []);
    calls.take(failure(401, 'API_KEY_INVALID', none));
    await expectCalls(calls, 10, ['API_KEY_INVALID']);
  });
});

describe('after a refusal', () => {
  test('nothing is sent until it ends, then one, and ten others once its headers arrive', async () => {
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

  test('another one is waited for as well, and a call that cannot is rejected immediately', async () => {
    const calls = await refused({ maxQueueTime: 45_000 });
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
    calls.begin(3);
    await expectCalls(calls, 3, []);
    calls.take(ofMinute);
    await expectCalls(calls, 2, [REFUSED]);
    calls.take(refusal('TOO_MANY_REQUESTS', 1));
    await expectCalls(calls, 1, [REFUSED, 'TOO_MANY_REQUESTS']);
    calls.take(good);
    await expectCalls(calls, 0, [REFUSED, 'TOO_MANY_REQUESTS', 'answered']);
    calls.outcomes.length = 0;
    calls.begin(2);
    await pass(29);
    await expectCalls(calls, 0, []);
    await pass(1.1);
    await expectCalls(calls, 1, []);
  });

  test('the time until its end counts in maxQueueTime, over all retries, and not in maxWait', async () => {
    const calls = await HeldCalls.start({ maxRetries: 5, maxWait: 0, maxQueueTime: 45_000 });
    calls.begin(1);
    await expectCalls(calls, 1, []);
    calls.take(ofMinute);
    await work();
    await pass(30.1);
    await expectCalls(calls, 1, []);
    calls.take(ofMinute);
    await work();
    await pass(1);
    await expectCalls(calls, 0, [REFUSED]);
  });

  test('nothing is sent where its body is truncated', async () => {
    const calls = await HeldCalls.start();
    calls.begin(12);
    await expectCalls(calls, 10, []);
    calls.take(breakOff('{', 429, { 'Retry-After': '30' }));
    await expectCalls(calls, 9, ['UNEXPECTED_RESPONSE']);
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

  test.each(['API_KEY_SUSPENDED', 'DAILY_QUOTA_EXCEEDED'])(
    'is tried by one call a minute later, whose response holds for the others: %s',
    async (code) => {
      const calls = await HeldCalls.start();
      const begin = async (count: number, held: number): Promise<void> => {
        calls.outcomes.length = 0;
        calls.begin(count);
        await expectCalls(calls, held, repeat(held > 0 ? 0 : count, code));
      };
      await begin(1, 1);
      calls.take(refusal(code, 3_600));
      await pass(59);
      await begin(2, 0);
      await pass(1);
      await begin(3, 1);
      calls.take(refusal(code, 3_600));
      await expectCalls(calls, 0, [code, code, code]);
      await pass(59);
      await begin(2, 0);
      await pass(1);
      await begin(12, 1);
      calls.take(good);
      await expectCalls(calls, 10, ['answered']);
    },
  );

  test('is waited for by a call that may, and ends for it as soon as the key is resumed', async () => {
    const begin = performance.now();
    let sent = 0;
    const server = await ScriptedServer.start((response, request) => {
      sent = (performance.now() - begin) / 1_000;
      (sent < 600 ? refusal('API_KEY_SUSPENDED', 3_600) : good)(response, request);
    });
    const store = quickClient(server, { maxQueueTime: Infinity });
    const calls = repeat(5, () => outcomeOf(store));

    expect(await countOutcomes(server, calls)).toEqual({ answered: 5 });
    expect(sent).toBeGreaterThanOrEqual(600);
    expect(sent).toBeLessThan(661);
  });

  test('is replaced by a shorter one when it is tried', async () => {
    const calls = await HeldCalls.start();
    calls.begin(1);
    await expectCalls(calls, 1, []);
    calls.take(refusal('API_KEY_SUSPENDED', 3_600));
    await expectCalls(calls, 0, ['API_KEY_SUSPENDED']);
    await pass(60);
    calls.begin(1);
    await expectCalls(calls, 1, ['API_KEY_SUSPENDED']);
    calls.take(refusal(REFUSED, 5));
    await expectCalls(calls, 0, ['API_KEY_SUSPENDED', REFUSED]);
    calls.begin(1);
    await pass(4.9);
    await expectCalls(calls, 0, ['API_KEY_SUSPENDED', REFUSED]);
    await pass(0.2);
    await expectCalls(calls, 1, ['API_KEY_SUSPENDED', REFUSED]);
  });

  test('of an exhausted day is known without a refusal, and tried a minute later', async () => {
    const server = await ScriptedServer.start(reply(200, entry, { RateLimit: '"minute";r=9;t=30, "day";r=0;t=50000' }));
    const store = quickClient(server);
    expect(await outcomeOf(store)).toBe('answered');
    const expected = {
      code: 'DAILY_QUOTA_EXCEEDED',
      retryAfter: 50_000,
      message: 'Not sent: The limit per day is exhausted.',
    };
    expect(await failuresOf([() => store.getInventory(101n)])).toMatchObject([expected]);
    expect(server.requests).toHaveLength(1);
    await pass(60);
    expect(await outcomeOf(store)).toBe('answered');
  });
});
