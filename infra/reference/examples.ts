import * as v from 'valibot';
import type { ExampleObject } from 'openapi3-ts/oas31';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { inventoryItemSchema, inventoryItemToJson, inventoryUpdateSchema } from '../../shared/contract/inventory.ts';
import { orderSchema, orderToJson } from '../../shared/contract/orders.ts';
import { petSchema, petToJson } from '../../shared/contract/pets.ts';
import { everyOperationErrors, type Operation, operations } from '../../shared/contract/operations.ts';
import { encodeCursor } from '../../shared/http/list-query.ts';
import { endOfDay, endOfMinute, minuteOf } from '../../shared/keys/window.ts';
import { guidedErrors, prose } from './error-page.ts';

/** Half a minute before 09:28 UTC: the moment of all examples. */
const NOW = 1_795_253_250_000;

/** When the windows of the examples end. */
export const exampleTimes = {
  minuteEnds: endOfMinute(minuteOf(NOW)) / 1_000,
  secondsOfMinute: (endOfMinute(minuteOf(NOW)) - NOW) / 1_000,
  secondsOfDay: (endOfDay(minuteOf(NOW)) - NOW) / 1_000,
} as const;

/** A stock entry before and after the update of the examples. */
const before = v.parse(inventoryItemSchema, { petId: '101', quantity: 4, status: 'available' });
const update = v.parse(inventoryUpdateSchema, { quantity: 7 });
const after = { ...before, ...update };
const another = v.parse(inventoryItemSchema, { petId: '103', quantity: 1, status: 'pending' });

const pet = v.parse(petSchema, {
  id: before.petId,
  category: { id: '1', name: 'dogs' },
  name: 'Biscuit',
  photoUrls: ['https://example.com/pets/101/1.jpg'],
  tags: [{ id: '1', name: 'friendly' }],
});

const order = v.parse(orderSchema, {
  id: '1',
  petId: before.petId,
  quantity: 1,
  shipDate: '2026-11-23T08:00:00Z',
  status: 'approved',
  complete: false,
});

/** JSON texts that answers and requests can have. */
export const exampleTexts = {
  listInventory: `[${inventoryItemToJson(before)},${inventoryItemToJson(another)}]`,
  inventoryUpdate: JSON.stringify(update),
  updateInventory: inventoryItemToJson(after),
  getPet: petToJson(pet, before.status),
  listOrders: `[${orderToJson(order)}]`,
} as const;

/** The petId of the examples. */
export const EXAMPLE_PET_ID = Number(before.petId);

/** The cursor of the examples: after the last entry of their list. */
export const EXAMPLE_CURSOR = encodeCursor({ list: 'listInventory', status: undefined, after: another.petId });

/** The value of an example; all its numbers are small enough for JavaScript's. */
export const exampleValue = (text: string): unknown => JSON.parse(text);

const all: readonly Operation[] = Object.values(operations);
const ofOperations = new Set<ErrorCode>([...everyOperationErrors, ...all.flatMap(({ errors }) => errors)]);

/** The Error body with each code that an operation can answer with, and what to do about it. */
export const errorExamples: Readonly<Record<string, ExampleObject>> = Object.fromEntries(
  guidedErrors
    .filter(({ code }) => ofOperations.has(code))
    .map(({ code, status, message, cause, remedy }) => [
      code,
      { summary: message, description: prose(`${cause} ${remedy}`), value: { code, message, status } },
    ]),
);
