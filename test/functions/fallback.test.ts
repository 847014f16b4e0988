import { beforeAll, describe, expect, test } from '@jest/globals';
import type { operationHandler } from '../../shared/http/operation-handler.ts';
import { admittedHeaders, aProxyEvent, lambdaContext } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';

const lines = recordRequestLines();

let handler: ReturnType<typeof operationHandler>;

beforeAll(async () => {
  ({ handler } = await import('../../functions/fallback.ts'));
});

const answerTo = (method: string, resource: string) => handler(aProxyEvent({ method, resource }), lambdaContext);

describe('A request that is no operation', () => {
  test.each([
    ['POST', '/inventory', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/inventory/{petId}', 'PATCH, OPTIONS'],
  ])('%s %s is 405 and names the methods that there are', async (method, resource, allowed) => {
    expect(await answerTo(method, resource)).toMatchObject({
      statusCode: 405,
      headers: { Allow: allowed, ...admittedHeaders },
      body: expect.stringContaining('"code":"METHOD_NOT_ALLOWED"'),
    });
    expect(lines()).toMatchObject([{ operation: 'none', status: '405', code: 'METHOD_NOT_ALLOWED' }]);
  });

  test.each(['/', '/{proxy+}'])('GET %s is 404', async (resource) => {
    expect(await answerTo('GET', resource)).toMatchObject({
      statusCode: 404,
      headers: admittedHeaders,
      body: expect.stringContaining('"code":"ROUTE_NOT_FOUND"'),
    });
    expect(lines()).toMatchObject([{ operation: 'none', status: '404', code: 'ROUTE_NOT_FOUND' }]);
  });
});
