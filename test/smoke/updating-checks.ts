import { randomUUID } from 'node:crypto';
import { type Answer, ApiError, type InventoryItem } from '../../shared/client/pet-store-inventory-client.ts';
import { type Check, expectSame, expectThat, NotApplicable } from './check.ts';
import type { Service } from './service.ts';

/**
 * Updates of one pet: 8 requests. Its quantity is changed and put back, both only if no other client has updated it since.
 */
export function updatingChecks(): readonly Check[] {
  const idempotencyKey = `smoke-${randomUUID()}`;
  let found: { readonly entry: InventoryItem; readonly etag: string } | undefined;
  let changed: Answer<InventoryItem> | undefined;
  let restored: Answer<InventoryItem> | undefined;
  return [
    {
      name: 'GET /inventory/{petId} has the entry with its ETag',
      run: async (service) => {
        const { petId } = await service.anEntry();
        const { data, etag } = await service.client.getInventory(petId);
        expectThat(etag !== undefined && /^"[^"]*"$/.test(etag), `the ETag is ${etag}`);
        found = { entry: data, etag };
        return `pet ${petId}, ETag ${etag}`;
      },
    },
    {
      name: 'an update with a stale If-Match is refused',
      run: async (service) => {
        const { petId, quantity } = required(found).entry;
        await service.expectRefusal(412, 'PRECONDITION_FAILED', 'PATCH', `/inventory/${petId}`, {
          headers: { 'Content-Type': 'application/json', 'If-Match': '"smoke-check"' },
          body: JSON.stringify({ quantity }),
        });
        return '412 PRECONDITION_FAILED';
      },
    },
    {
      name: 'an update sets the quantity, and nothing else',
      run: async (service) => {
        const { entry, etag } = required(found);
        const { petId, quantity, status } = entry;
        changed = await update(service, petId, otherThan(quantity), etag);
        expectSame('the status', changed.data.status, status);
        expectThat(changed.etag !== undefined && changed.etag !== etag, `the ETag is ${changed.etag} as before`);
        return `pet ${petId} from ${quantity} to ${changed.data.quantity}`;
      },
    },
    {
      name: 'an adjustment with the current ETag goes through, and puts the quantity back',
      run: async (service) => {
        restored = await putBack(service, required(found).entry, required(changed), idempotencyKey);
        return `pet ${restored.data.petId} is at ${restored.data.quantity}, as it was`;
      },
    },
    {
      name: 'the same adjustment with the same Idempotency-Key is made once',
      run: async (service) => {
        const { etag } = required(restored);
        const again = await putBack(service, required(found).entry, required(changed), idempotencyKey);
        expectSame('the ETag', again.etag, etag);
        return `200, ETag ${etag}`;
      },
    },
    {
      name: 'an update of many at once says what became of each',
      run: async (service) => {
        const { data, etag } = required(restored);
        const { petId, quantity } = data;
        const rows = [
          { petId, quantity, ifMatch: etag },
          { petId: NO_PET, quantity },
        ];
        const results = (await service.client.updateInventories(rows)).data.map(({ status }) => status);
        if (results[0] === 412) throw changedMeanwhile(petId);
        expectSame('the statuses', results.join(', '), '200, 404');
        return results.join(', ');
      },
    },
    {
      name: 'another update with the same Idempotency-Key is refused, marked as experimental',
      run: async (service) => {
        const { petId, quantity } = required(restored).data;
        const { headers } = await service.expectRefusal(422, 'IDEMPOTENCY_KEY_REUSED', 'PATCH', `/inventory/${petId}`, {
          headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `"${idempotencyKey}"` },
          body: JSON.stringify({ quantity: otherThan(quantity) }),
        });
        expectSame('X-API-Stability', headers.get('X-API-Stability'), 'experimental');
        return '422 IDEMPOTENCY_KEY_REUSED';
      },
    },
  ];
}

/** What an earlier check has brought. @throws NotApplicable where it has brought nothing */
function required<T>(result: T | undefined): T {
  if (result === undefined) throw new NotApplicable('a check before it brought nothing to go on with');
  return result;
}

/** Less rather than more, so that no client can buy a pet that is not there. */
const otherThan = (quantity: number): number => (quantity > 0 ? quantity - 1 : 1);

/** A pet that no store has. */
const NO_PET = -9_223_372_036_854_775_808n;

const update = ({ client }: Service, petId: bigint, quantity: number, ifMatch: string) =>
  unlessChanged(petId, quantity, client.updateInventory(petId, quantity, { ifMatch }));

const putBack = (
  { client }: Service,
  { petId, quantity }: InventoryItem,
  { data, etag: ifMatch }: Answer<InventoryItem>,
  idempotencyKey: string,
) =>
  unlessChanged(petId, quantity, client.adjustInventory(petId, quantity - data.quantity, { ifMatch, idempotencyKey }));

async function unlessChanged(
  petId: bigint,
  quantity: number,
  call: Promise<Answer<InventoryItem>>,
): Promise<Answer<InventoryItem>> {
  try {
    const answer = await call;
    expectSame('the quantity in the answer', answer.data.quantity, quantity);
    return answer;
  } catch (error) {
    throw error instanceof ApiError && error.status === 412 ? changedMeanwhile(petId) : error;
  }
}

const changedMeanwhile = (petId: bigint): NotApplicable =>
  new NotApplicable(`another client has updated pet ${petId} meanwhile, and that stays`);
