import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { collect, failureOf, patientOf, SECRET_KEY } from '../../support/inventory-client.ts';
import { freePort } from '../../support/listening.ts';
import { answer, breakOff, failure, hangUp, ScriptedServer, silence } from '../../support/scripted-server.ts';

/** All that a log or a debugger could show of a value. */
function shown(value: unknown): string {
  const text = inspect(value, {
    depth: Infinity,
    showHidden: true,
    getters: true,
    maxArrayLength: null,
    maxStringLength: null,
  });
  return [text, String(value), JSON.stringify(value)].join('\n');
}

describe('the API key', () => {
  test.each([
    ['an error of the service', failure(401, 'API_KEY_INVALID')],
    ['an error of something on the way', answer(503, '<html>')],
    ['an answer that cannot be read', answer(200, '<html>')],
    ['an answer that breaks off', breakOff('{')],
    ['a broken connection', hangUp],
    ['silence', silence],
  ])('is sent with each request, and shown nowhere after %s', async (_, step) => {
    const server = await ScriptedServer.start(step);
    const { store, retries } = patientOf(server, { maxRetries: 1, timeout: 100 });
    const failures = [
      await failureOf(store.updateInventory(101n, 7)),
      await failureOf(store.getPet(101n)),
      await failureOf(collect(store.listInventory())),
    ];
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${SECRET_KEY}`]),
    );
    for (const value of [store, retries, failures]) expect(shown(value)).not.toContain(SECRET_KEY);
  });

  test('is shown nowhere where nobody answers', async () => {
    const { store, retries } = patientOf({ baseUrl: `http://127.0.0.1:${await freePort()}/v1` });
    const thrown = await failureOf(store.updateInventory(101n, 7));
    for (const value of [store, retries, thrown]) expect(shown(value)).not.toContain(SECRET_KEY);
  });
});
