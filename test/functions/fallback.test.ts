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
  const ofInventory = ['/inventory', '/inventory/{petId}', '/inventory/{petId}/adjustments'];

  test.each([
    ['/orders', ['/store/orders']],
    ['/Store/orders/', ['/store/orders']],
    ['/pets', ['/pets/{petId}']],
    ['/pet/101', ['/pets/{petId}']],
    ['//Inventory', ['/inventory']],
    ['/inventory/', ['/inventory']],
    ['/INVENTORY/101/', ['/inventory/{petId}']],
    ['/inv', ofInventory],
    ['/v1/inventory/101/adjust', ofInventory],
    ['/store/inventory', [...ofInventory, '/store/orders']],
    ['/stock', [...ofInventory, '/pets/{petId}', '/store/orders', '/key']],
    ['/', [...ofInventory, '/pets/{petId}', '/store/orders', '/key']],
  ])('at %s is told the path that fits, or else those with such a part, or else all', async (path, near) => {
    const meant = near.map((one) => `/v1${one}`).join(' or ');

    expect(await messageFor('GET', '/{path+}', path)).toBe(`There is nothing at "/v1${path}": did you mean ${meant}?`);
  });

  test('is told the methods of its path', async () => {
    expect(await messageFor('PUT', '/inventory')).toBe('/inventory answers GET, HEAD, PATCH, not "PUT".');
  });
});
