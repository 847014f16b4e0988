import { expect, test } from '@jest/globals';
import { answerTo, aProxyEvent } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';

recordRequestLines();

test.each([
  [
    'GET',
    '/{path}',
    404,
    'There is nothing at "/v1/stock". There are /v1/inventory, /v1/inventory/{petId}, ' +
      '/v1/inventory/{petId}/adjustments, /v1/pets/{petId}, /v1/store/orders, /v1/key.',
  ],
  ['PUT', '/inventory', 405, '/inventory answers GET, HEAD, PATCH, not "PUT".'],
])('%s %s is %i and says what there is', async (method, resource, status, message) => {
  const { handler } = await import('../../functions/fallback.ts');
  const { body } = await answerTo(handler, aProxyEvent({ method, resource, pathParameters: { path: 'stock' } }));

  expect(JSON.parse(body)).toMatchObject({ status, message });
});
