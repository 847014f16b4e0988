import { describe, expect, test } from '@jest/globals';
import { failureOf, patientOf } from '../../support/inventory-client.ts';
import { answer, ScriptedServer } from '../../support/scripted-server.ts';

const entry = answer(200, '{"petId":1,"quantity":7,"status":"sold"}');

describe('a petId', () => {
  test.each([
    [9223372036854775807n, '/v1/inventory/9223372036854775807'],
    [-9223372036854775808n, '/v1/inventory/-9223372036854775808'],
    [0n, '/v1/inventory/0'],
    [101, '/v1/inventory/101'],
    [Number.MAX_SAFE_INTEGER, '/v1/inventory/9007199254740991'],
  ])('%s is sent with all its digits', async (petId, path) => {
    const server = await ScriptedServer.start(entry);
    await patientOf(server).store.updateInventory(petId, 7);
    expect(server.requests).toMatchObject([{ path }]);
  });

  test.each([[2 ** 53], [1.5], [Number.NaN], [Infinity]])('%s is refused', async (petId) => {
    const server = await ScriptedServer.start(entry);
    const failure = await failureOf(patientOf(server).store.getPet(petId));
    expect(String(failure)).toMatch(/^TypeError: petId must be a bigint such as 101n/);
    expect(server.requests).toEqual([]);
  });
});

describe('an Idempotency-Key', () => {
  test.each([
    ['order-17', '"order-17"'],
    [String.raw`a"b\c`, String.raw`"a\"b\\c"`],
    ['x'.repeat(255), `"${'x'.repeat(255)}"`],
  ])('%s is sent as a structured field', async (idempotencyKey, header) => {
    const server = await ScriptedServer.start(entry);
    await patientOf(server).store.updateInventory(1n, 7, { idempotencyKey });
    expect(server.requests).toMatchObject([{ headers: { 'idempotency-key': header } }]);
  });

  test.each(['', 'a b', 'é', 'a\n', 'x'.repeat(256)])('%j is refused', async (idempotencyKey) => {
    const server = await ScriptedServer.start(entry);
    const failure = await failureOf(patientOf(server).store.updateInventory(1n, 7, { idempotencyKey }));
    expect(String(failure)).toBe('TypeError: idempotencyKey must be 1 to 255 visible ASCII characters');
    expect(server.requests).toEqual([]);
  });
});
