import * as v from 'valibot';
import { int64Schema } from '../../shared/contract/int64.ts';
import type {
  InventoryItemOf,
  InventoryUpdateResultOf,
  KeyDetails,
  OrderOf,
  PetOf,
} from '../../shared/contract/records.ts';
import { isoText } from '../../shared/http/authorizer-result.ts';
import { encodeCursor } from '../../shared/http/list-query.ts';
import { endOfDay, endOfMinute, minuteOf } from '../../shared/keys/verdict.ts';

/** The time of all examples: 09:27:30 UTC. */
const NOW = 1_795_253_250_000;

/** When the windows of the examples end. */
export const exampleTimes = {
  minuteEnds: endOfMinute(minuteOf(NOW)) / 1_000,
  secondsOfMinute: (endOfMinute(minuteOf(NOW)) - NOW) / 1_000,
  secondsOfDay: (endOfDay(minuteOf(NOW)) - NOW) / 1_000,
} as const;

/** Request and response bodies. Their ids fit into JavaScript's numbers. */
export const examples = {
  updateInventory: { petId: 101, quantity: 7, status: 'available' } satisfies InventoryItemOf<number>,
  getInventory: { petId: 101, quantity: 4, status: 'available' } satisfies InventoryItemOf<number>,
  adjustInventory: { petId: 101, quantity: 6, status: 'available' } satisfies InventoryItemOf<number>,
  inventoryUpdates: [
    { petId: 101, quantity: 7, ifQuantity: 5 },
    { petId: 999, quantity: 2 },
  ],
  updateInventories: [
    { petId: 101, status: 200, etag: '"q3TzR8dW1xYb"', item: { petId: 101, quantity: 7, status: 'available' } },
    { petId: 999, status: 404, error: { code: 'PET_NOT_FOUND', message: 'There is no pet 999.', status: 404 } },
  ] satisfies InventoryUpdateResultOf<number>[],
  listInventory: [
    { petId: 101, quantity: 4, status: 'available' },
    { petId: 102, quantity: 2, status: 'available' },
    { petId: 103, quantity: 1, status: 'pending' },
  ] satisfies InventoryItemOf<number>[],
  getPet: {
    id: 101,
    category: { id: 1, name: 'dogs' },
    name: 'Biscuit',
    photoUrls: ['https://example.com/pets/101/1.jpg'],
    tags: [{ id: 1, name: 'friendly' }],
    status: 'available',
  } satisfies PetOf<number>,
  listOrders: [
    { id: 1, petId: 101, quantity: 1, shipDate: '2026-11-23T08:00:00Z', status: 'approved', complete: false },
  ] satisfies OrderOf<number>[],
  getKey: {
    plan: 'free',
    token: 'main/ly02',
    access: 'full',
    expiresAt: '2030-12-31T00:00:00Z',
    limits: [
      { window: 'minute', limit: 60, remaining: 59, resetsAt: isoText(endOfMinute(minuteOf(NOW))) },
      { window: 'day', limit: 1_000, remaining: 812, resetsAt: isoText(endOfDay(minuteOf(NOW))) },
    ],
  } satisfies KeyDetails,
};

/** After the second entry of the list of the examples. */
const after = v.parse(int64Schema, '102');
export const EXAMPLE_CURSOR = encodeCursor({ list: 'listInventory', status: undefined, after });
