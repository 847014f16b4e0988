import { challenges } from '../../shared/http/authorizer-answer.ts';
import { type Check, expectSame, expectThat } from './check.ts';
import type { Service, ServiceAnswer } from './service.ts';

/** A petId that no store gives to a pet. */
const NO_PET = '-9223372036854775808';

/** A body beyond the 16 KiB that the service takes. */
const LONG_BODY = JSON.stringify({ quantity: 1, note: 'x'.repeat(17 * 1_024) });

const json = { 'Content-Type': 'application/json' };

/** A refusal and its code. */
const refusal = (
  name: string,
  status: number,
  code: string,
  request: (service: Service) => Parameters<Service['send']>,
  alsoExpect: (answer: ServiceAnswer) => void = () => undefined,
): Check => ({
  name,
  run: async (service) => {
    alsoExpect(await service.expectRefusal(status, code, ...request(service)));
    return `${status} ${code}`;
  },
});

function expectChallenge(code: keyof typeof challenges, { headers, limits }: ServiceAnswer): void {
  expectSame('WWW-Authenticate', headers.get('WWW-Authenticate'), challenges[code]);
  expectSame('X-RateLimit-Limit', limits.limit, 0);
}

/** What the service refuses to readers: 8 requests. */
export const refusalChecks: readonly Check[] = [
  refusal(
    'no key is refused',
    401,
    'API_KEY_MISSING',
    () => ['GET', '/inventory', { key: null }],
    (answer) => expectChallenge('API_KEY_MISSING', answer),
  ),
  refusal(
    'a mistyped key is refused',
    401,
    'API_KEY_INVALID',
    ({ mistypedKey }) => ['GET', '/inventory', { key: mistypedKey }],
    (answer) => expectChallenge('API_KEY_INVALID', answer),
  ),
  refusal('an unknown path is refused', 404, 'ROUTE_NOT_FOUND', () => ['GET', '/smoke-check']),
  refusal(
    'an unknown method is refused, and those that are known are named',
    405,
    'METHOD_NOT_ALLOWED',
    () => ['DELETE', '/inventory'],
    ({ headers }) => expectSame('Allow', headers.get('Allow'), 'GET, HEAD, OPTIONS'),
  ),
  refusal('a bad limit is refused', 400, 'INVALID_QUERY', () => ['GET', '/inventory?limit=0']),
  refusal('a made-up cursor is refused', 400, 'INVALID_CURSOR', () => ['GET', '/inventory?limit=1&cursor=smoke']),
  refusal('an unknown pet is refused', 404, 'PET_NOT_FOUND', () => ['GET', `/pets/${NO_PET}`]),
  { name: 'a page of another origin may ask first, without a key', run: preflight },
];

/** What the service refuses to those who update: 4 requests, none of which can change anything. */
export const updateRefusalChecks: readonly Check[] = [
  refusal('a petId that is no number is refused', 400, 'INVALID_PET_ID', () => [
    'PATCH',
    '/inventory/smoke',
    { headers: json, body: '{"quantity":1}' },
  ]),
  refusal('a bad body is refused', 400, 'INVALID_BODY', () => [
    'PATCH',
    `/inventory/${NO_PET}`,
    { headers: json, body: '{"quantity":-1}' },
  ]),
  refusal('a long body is refused', 413, 'PAYLOAD_TOO_LARGE', () => [
    'PATCH',
    `/inventory/${NO_PET}`,
    { headers: json, body: LONG_BODY },
  ]),
  refusal('a body that is not JSON is refused', 415, 'UNSUPPORTED_MEDIA_TYPE', () => [
    'PATCH',
    `/inventory/${NO_PET}`,
    { headers: { 'Content-Type': 'text/plain' }, body: '{"quantity":1}' },
  ]),
];

async function preflight(service: Service): Promise<string> {
  const { status, headers } = await service.send('OPTIONS', '/inventory/1', {
    key: null,
    headers: {
      Origin: 'https://smoke.invalid',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,content-type',
    },
  });
  expectSame('the status', status, 204);
  const methods = headers.get('Access-Control-Allow-Methods') ?? '';
  expectThat(methods.includes('PATCH'), `Access-Control-Allow-Methods is ${methods}`);
  const allowed = (headers.get('Access-Control-Allow-Headers') ?? '').toLowerCase();
  for (const name of ['authorization', 'content-type', 'if-match', 'idempotency-key']) {
    expectThat(allowed.includes(name), `Access-Control-Allow-Headers lacks ${name}`);
  }
  return `204 for ${headers.get('Access-Control-Allow-Origin')}`;
}
