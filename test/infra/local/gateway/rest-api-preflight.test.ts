import { describe, expect, test } from '@jest/globals';
import { admitting, CUSTOMER } from '../../../support/authorizer-answers.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';
import { CUSTOMER_ID, LocalApis } from '../../../support/local-api.ts';

const apis = new LocalApis();

/** Functions that fail whoever asks them. */
const failing = `exports.handler = async () => { throw new Error('no'); };`;
const everyFunction = { authorizer: failing, listInventory: failing, updateInventory: failing, fallback: failing };

const preflight = {
  method: 'OPTIONS',
  path: '/inventory/42',
  headers: [
    ['Host', 'localhost:3000'],
    ['Origin', 'https://reference.invalid'],
    ['Access-Control-Request-Method', 'PATCH'],
    ['Access-Control-Request-Headers', 'authorization,content-type'],
  ],
} as const;

describe('a preflight', () => {
  test('is answered without asking anybody: 204, with what the template says', async () => {
    expect(await apis.start(everyFunction).answer(preflight)).toEqual({
      status: 204,
      headers: {
        'Access-Control-Allow-Origin': 'https://reference.invalid',
        'Access-Control-Allow-Methods': 'PATCH',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, Idempotency-Key',
        'Access-Control-Max-Age': '3600',
        'X-RateLimit-Limit': '0',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': '0',
        'RateLimit-Policy': '"minute";q=0;w=60, "day";q=0;w=86400',
        RateLimit: '"minute";r=0;t=0, "day";r=0;t=0',
        'x-amzn-RequestId': aGatewayRequest().id,
        'x-amz-apigw-id': aGatewayRequest().id,
      },
      body: Buffer.alloc(0),
    });
  });

  test.each(['/inventory', '/inventory/42', '/inventory/anything', '/pets/42', '/store/orders'])(
    'is answered on %s',
    async (path) => {
      expect(await apis.start(everyFunction).answer({ ...preflight, path })).toMatchObject({ status: 204 });
    },
  );

  test.each(['/', '/pets', '/store', '/nowhere', '/inventory/42/more'])(
    'is a request as any other on %s, where no operation is',
    async (path) => {
      expect(await apis.start(everyFunction).answer({ ...preflight, path })).toMatchObject({ status: 503 });
    },
  );

  test('is no request of a customer, whatever key it brings: it counts on no usage plan', async () => {
    const api = apis.start({ ...everyFunction, authorizer: admitting });
    const used = () => {
      const plans = api.records.usagePlans.map(({ id }) => api.records.usage(id, CUSTOMER_ID));
      return plans.map((usage) => [...usage.counts].map(([, count]) => count));
    };
    const unused = used();
    const headers = [...preflight.headers, ['Authorization', `Bearer ${CUSTOMER}`]] as const;
    for (let request = 0; request < 5; request++) await api.answer({ ...preflight, headers });
    const afterPreflights = used();
    await api.answer();

    expect(afterPreflights).toEqual(unused);
    expect(used()).not.toEqual(unused);
  });

  test('is in the access log, with nobody’s key', async () => {
    const api = apis.start(everyFunction);
    await api.answer(preflight);

    expect(await api.accessLog()).toMatchObject([
      {
        method: 'OPTIONS',
        resource: '/inventory/{petId}',
        status: '204',
        bytes: '0',
        keyId: '-',
        plan: '-',
        outcome: '-',
        gatewayError: '-',
      },
    ]);
  });
});
