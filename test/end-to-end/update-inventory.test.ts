import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const MAX_QUANTITY = 2_147_483_647;
const MAX_BODY_BYTES = 16 * 1024;
const GATEWAY_MAX_BODY_BYTES = 10 * 1024 * 1024;

describe('PATCH /inventory/{petId}', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  describe('200', () => {
    test.each([
      [101, 'available'],
      [103, 'pending'],
      [104, 'sold'],
    ])('pet %i stays %s, and its new quantity reads back in the list', async (petId, status) => {
      const updated = `{"petId":${petId},"quantity":77,"status":"${status}"}`;

      expect(await api.setQuantity(petId, 77)).toMatchObject({ status: 200, text: updated });
      expect((await api.list()).text).toContain(updated);
    });

    test.each([0, 1, MAX_QUANTITY])('a quantity of %i is taken', async (quantity) => {
      expect(await api.setQuantity(102, quantity)).toMatchObject({
        status: 200,
        text: `{"petId":102,"quantity":${quantity},"status":"available"}`,
      });
    });

    test('only the entry of the pet changes', async () => {
      await api.setQuantity(201, 1);
      const before = (await api.list()).text;
      await api.setQuantity(201, 2);

      expect((await api.list()).text).toBe(before.replace('"petId":201,"quantity":1,', '"petId":201,"quantity":2,'));
    });

    test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '0'])(
      'the petId %s keeps its digits',
      async (petId) => {
        await host.putStock({ petId: BigInt(petId), quantity: 1, status: 'pending' });
        const updated = `{"petId":${petId},"quantity":9,"status":"pending"}`;
        const answer = await api.setQuantity(petId, 9);
        const { text } = await api.list();
        await host.deleteStock(BigInt(petId));

        expect(answer).toMatchObject({ status: 200, text: updated });
        expect(text).toContain(updated);
      },
    );

    test.each([
      'application/json',
      'APPLICATION/JSON',
      'application/json;charset=UTF-8',
      'application/json; charset="utf-8"',
    ])('the Content-Type %s is JSON', async (contentType) => {
      const parts = { headers: { 'Content-Type': contentType }, body: '{"quantity":3}' };

      expect(await api.send('PATCH', '/inventory/105', parts)).toMatchObject({ status: 200 });
    });

    test('a body of exactly 16 KiB is taken', async () => {
      expect(await api.patch(105, '{"quantity":3}'.padEnd(MAX_BODY_BYTES))).toMatchObject({ status: 200 });
    });

    test('of many updates of one pet at once, each is answered with its own quantity and one of them stays', async () => {
      const quantities = Array.from({ length: 40 }, (_, index) => index);
      const answers = await Promise.all(quantities.map((quantity) => api.setQuantity(106, quantity)));

      expect(answers.map(({ text }) => text)).toEqual(
        quantities.map((quantity) => `{"petId":106,"quantity":${quantity},"status":"pending"}`),
      );
      expect((await api.list()).text).toMatch(/"petId":106,"quantity":[1-3]?\d,/);
    });
  });

  describe('400', () => {
    test.each([
      ['a body that is not JSON', 'quantity=5', /not valid JSON/],
      ['a body that breaks off', '{"quantity":5', /not valid JSON/],
      ['a body that is not strict JSON', "{'quantity':5}", /not valid JSON/],
      ['a quantity beyond JSON', '{"quantity":NaN}', /not valid JSON/],
      ['an empty object', '{}', /"quantity" is missing/],
      ['a field of another case', '{"Quantity":5}', /"quantity" is missing/],
      ['an unknown field', '{"quantity":5,"status":"sold"}', /"status" is not known/],
      ['an unknown field of the prototype', '{"quantity":5,"__proto__":{}}', /"__proto__" is not known/],
      ['text', '{"quantity":"5"}', /"quantity" must be an integer/],
      ['a fraction', '{"quantity":1.5}', /"quantity" must be an integer/],
      ['a negative quantity', '{"quantity":-1}', /"quantity" must be an integer/],
      ['one above the largest quantity', '{"quantity":2147483648}', /"quantity" must be an integer/],
      ['a quantity beyond all numbers', '{"quantity":1e999}', /"quantity" must be an integer/],
      ['null as quantity', '{"quantity":null}', /"quantity" must be an integer/],
      ['a boolean as quantity', '{"quantity":true}', /"quantity" must be an integer/],
      ['an array as quantity', '{"quantity":[5]}', /"quantity" must be an integer/],
      ['an array', '[{"quantity":5}]', /must be a JSON object/],
      ['null', 'null', /must be a JSON object/],
      ['a number', '5', /must be a JSON object/],
    ])('for %s', async (_, body, message) => {
      const before = (await api.list()).text;

      expect(await api.patch(101, body)).toMatchObject({
        status: 400,
        error: { code: 'INVALID_BODY', message: expect.stringMatching(message) },
      });
      expect((await api.list()).text).toBe(before);
    });

    test('for no body', async () => {
      expect(await api.send('PATCH', '/inventory/101')).toMatchObject({ status: 400, error: { code: 'INVALID_BODY' } });
    });

    test.each([
      ['text', 'abc'],
      ['leading zeros', '0101'],
      ['a plus sign', '+101'],
      ['minus zero', '-0'],
      ['a fraction', '101.0'],
      ['an exponent', '1e2'],
      ['hexadecimal', '0x65'],
      ['a space', '%20101'],
      ['a slash', '10%2F1'],
      ['encoded digits', '%31%30%31'],
      ['digits of another script', '%D9%A1'],
      ['one above the largest int64', '9223372036854775808'],
      ['one below the smallest int64', '-9223372036854775809'],
      ['hundreds of digits', '9'.repeat(400)],
    ])('for a petId with %s', async (_, petId) => {
      expect(await api.setQuantity(petId, 5)).toMatchObject({ status: 400, error: { code: 'INVALID_PET_ID' } });
    });
  });

  test('401 without a key, and nothing is changed', async () => {
    const before = (await api.list()).text;

    expect(await new ApiClient(host.baseUrl, undefined).setQuantity(101, 12_345)).toMatchObject({ status: 401 });
    expect((await api.list()).text).toBe(before);
  });

  test.each(['999', '0', '-101', '9223372036854775807', '-9223372036854775808'])(
    '404 for pet %s, which has no entry, and none is made',
    async (petId) => {
      const before = (await api.list()).text;

      expect(await api.setQuantity(petId, 5)).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND' } });
      expect((await api.list()).text).toBe(before);
    },
  );

  describe('413', () => {
    test.each([
      ['one byte over 16 KiB', MAX_BODY_BYTES + 1],
      ['more than an invocation carries', 7 * 1024 * 1024],
      ['more than the gateway takes', GATEWAY_MAX_BODY_BYTES + 1],
    ])('for a body of %s', async (_, bytes) => {
      expect(await api.patch(101, '{"quantity":3}'.padEnd(bytes))).toMatchObject({
        status: 413,
        error: { code: 'PAYLOAD_TOO_LARGE' },
      });
    });

    test('counts bytes, not characters', async () => {
      expect(await api.patch(101, `{"quantity":3,"${'€'.repeat(MAX_BODY_BYTES / 3)}":1}`)).toMatchObject({
        status: 413,
      });
    });
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'application/jsonp',
    '',
  ])('415 for the Content-Type "%s"', async (contentType) => {
    const parts = { headers: { 'Content-Type': contentType }, body: '{"quantity":3}' };

    expect(await api.send('PATCH', '/inventory/101', parts)).toMatchObject({
      status: 415,
      error: { code: 'UNSUPPORTED_MEDIA_TYPE' },
    });
  });

  test('415 for a body without Content-Type', async () => {
    expect(await api.send('PATCH', '/inventory/101', { body: Buffer.from('{"quantity":3}') })).toMatchObject({
      status: 415,
      error: { code: 'UNSUPPORTED_MEDIA_TYPE' },
    });
  });
});
