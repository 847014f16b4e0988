import { expect, test } from '@jest/globals';
import { stabilityHeader } from '../../../shared/http/stability.ts';

test.each([
  ['listInventory', {}],
  ['updateInventory', { 'X-API-Stability': 'experimental' }],
  ['getPet', {}],
  ['listOrders', { 'X-API-Stability': 'beta' }],
] as const)('%s is marked with %j (spec §9, rule 2)', (operation, header) => {
  expect(stabilityHeader(operation)).toEqual(header);
});
