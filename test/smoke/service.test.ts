import { describe, expect, test } from '@jest/globals';
import { answer, failure, ScriptedServer, type Step } from '../support/scripted-server.ts';
import { Service } from './service.ts';

const RESET = 1_795_253_280;

const promised: Readonly<Record<string, string>> = {
  'x-amzn-RequestId': 'request-1',
  'Access-Control-Allow-Origin': 'https://example.com',
  Date: new Date((RESET - 30) * 1_000).toUTCString(),
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': String(RESET),
  'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
  RateLimit: '"minute";r=59;t=30, "day";r=999;t=4000',
};

const service = async (...steps: readonly Step[]): Promise<Service> =>
  new Service((await ScriptedServer.start(...steps)).baseUrl, 'psk_secretA');

describe('an answer of a service that is checked', () => {
  test.each([
    ['x-amzn-RequestId', '', 'the header x-amzn-RequestId is missing'],
    ['X-RateLimit-Reset', 'soon', 'the headers X-RateLimit-* are missing or no numbers'],
    ['X-RateLimit-Limit', '1000', 'X-RateLimit-Limit is 1000, not 60'],
    ['X-RateLimit-Reset', String(RESET + 60), 'X-RateLimit-Reset and RateLimit are 60 seconds apart'],
    ['RateLimit-Policy', '', 'RateLimit or RateLimit-Policy does not name both windows'],
  ])('is wrong with the %s %j', async (header, value, fault) => {
    const { [header]: _, ...others } = promised;
    const headers = value === '' ? others : { ...others, [header]: value };
    await expect((await service(answer(200, '[]', headers))).send('GET', '/inventory')).rejects.toThrow(fault);
  });

  test('is asked for again after a minute that is used up', async () => {
    const limited = await service(
      failure(429, 'RATE_LIMIT_EXCEEDED', { ...promised, 'Retry-After': '1' }),
      answer(200, '[]', promised),
    );
    expect((await limited.send('GET', '/inventory')).status).toBe(200);
  });

  test('is taken as it is where the key is suspended', async () => {
    const refused = await service(failure(429, 'API_KEY_SUSPENDED', { ...promised, 'Retry-After': '300' }));
    expect((await refused.send('GET', '/inventory')).status).toBe(429);
  });

  test.each([
    [answer(200, '[]', promised), 'the status is 200, not 404'],
    [failure(404, 'PET_NOT_FOUND', promised), 'the code is "PET_NOT_FOUND", not "ROUTE_NOT_FOUND"'],
    [answer(404, '<html>', promised), 'the body is no JSON: "<html>"'],
    [answer(404, { code: 'ROUTE_NOT_FOUND', status: 403 }, promised), 'the status in the body is 403, not 404'],
  ])('is no refusal as it should be: %#', async (step, fault) => {
    const refusal = (await service(step)).expectRefusal(404, 'ROUTE_NOT_FOUND', 'GET', '/nothing');
    await expect(refusal).rejects.toThrow(fault);
  });
});
