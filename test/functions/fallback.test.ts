import { beforeAll, describe, expect, test } from '@jest/globals';
import type * as Fallback from '../../functions/fallback.ts';
import { answerTo, aProxyEvent } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';

recordRequestLines();

let handler: typeof Fallback.handler;

beforeAll(async () => {
  ({ handler } = await import('../../functions/fallback.ts'));
});

const messageFor = async (method: string, resource: string, path = resource): Promise<string> => {
  const event = aProxyEvent({ method, resource });
  const { body } = await answerTo(handler, {
    ...event,
    requestContext: { ...event.requestContext, path: `/v1${path}` },
  });
  return JSON.parse(body).message;
};

describe('a request that is no operation', () => {
  test.each([
    ['/inventory/', '/inventory'],
    ['//Inventory', '/inventory'],
    ['/INVENTORY/101/', '/inventory/{petId}'],
    ['/inventory/101/Adjustments', '/inventory/{petId}/adjustments'],
    ['/Store/orders', '/store/orders'],
  ])('is told the path that differs from %s by slashes or by case only', async (path, near) => {
    expect(await messageFor('GET', '/{path+}', path)).toBe(`There is nothing at this path: did you mean /v1${near}?`);
  });

  test.each(['/', '/stock', '/inventory/101/102', '/pets'])('is told nothing more for %s', async (path) => {
    expect(await messageFor('GET', '/{path+}', path)).toBe('There is nothing at this path.');
  });

  test('is told the methods of its path', async () => {
    expect(await messageFor('PUT', '/inventory')).toBe('/inventory answers GET, HEAD, PATCH, not "PUT".');
  });
});
