import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey } from '../../../support/gateway-records.ts';

let plane: ControlPlaneCalls;

/** Ids of three digits, in their order. */
const idsFrom = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(3, '0'));

beforeEach(() => {
  plane = new ControlPlaneCalls();
  for (const id of idsFrom(60).toReversed()) plane.records.putApiKey(anApiKey({ id }));
});

describe('a list', () => {
  test.each([
    ['of 25 by default', '', [25, 25, 10]],
    ['of the size that is asked for', '?limit=30', [30, 30]],
    ['of one', '?limit=1', Array.from({ length: 60 }, () => 1)],
    ['of 500 at most', '?limit=500', [60]],
  ])('comes in pages %s', async (_, query, sizes) => {
    const pages = await plane.pages(`/apikeys${query}`);

    expect(pages.map(({ length }) => length)).toEqual(sizes);
    expect(pages.flat()).toEqual(idsFrom(60));
  });

  test('has no position on its last page', async () => {
    expect((await plane.call('GET', '/apikeys?limit=500')).body).not.toHaveProperty('position');
  });

  test('goes on where it was, whatever was deleted and added meanwhile', async () => {
    const { body } = await plane.call('GET', '/apikeys?limit=30');
    plane.records.deleteApiKey('029');
    plane.records.deleteApiKey('030');
    plane.records.putApiKey(anApiKey({ id: '0000' }));
    const rest = await plane.ids(`/apikeys?limit=30&position=${Object(body).position}`);

    expect(rest).toEqual(idsFrom(60).slice(31));
  });

  test.each([
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=1.5',
    'limit=many',
    'limit=',
    'position=',
    'position=%20',
    'position=x!',
  ])('refuses %s', async (query) => {
    expect(await plane.call('GET', `/apikeys?${query}`)).toMatchObject({ status: 400, error: 'BadRequestException' });
  });
});
