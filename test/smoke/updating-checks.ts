import { randomUUID } from 'node:crypto';
import { type Answer, ApiError, type InventoryItem } from '../../shared/client/pet-store-inventory-client.ts';
import { type Check, expectSame, expectThat, NotApplicable } from './check.ts';
import type { Service } from './service.ts';

/**
 * Updates of one pet: 7 requests. Its quantity is changed and put back, both only if no other client has updated it since.
 */
export function updatingChecks(): readonly Check[] {
  const idempotencyKey = `smoke-${randomUUID()}`;
  let found: { readonly entry: InventoryItem; readonly etag: string } | undefined;
  let changed: Answer<InventoryItem> | undefined;
  let restored: Answer<InventoryItem> | undefined;
  return [
    {
      name: 'an update with a stale If-Match is refused, with the current ETag',
      run: async (service) => {
        const { petId, quantity } = await service.anEntry();
        const etag = await currentTag(service.client.updateInventory(petId, quantity, { ifMatch: '"smoke-check"' }));
        // It is read after its tag, so it is no older.
        const entry = await firstEntry(service, petId);
        if (!entry) throw new NotApplicable(`pet ${petId} is gone by now`);
        found = { entry, etag };
        return `412 PRECONDITION_FAILED, ETag ${etag}`;
      },
    },
    {
      name: 'an update sets the quantity, and nothing else',
      run: async (service) => {
        const { entry, etag } = required(found);
        const { petId, quantity, status } = entry;
        changed = await update(service, petId, otherThan(quantity), { ifMatch: etag });
        const listed = await firstEntry(service, petId);
        if (listed) expectSame('the quantity in the list', listed.quantity, changed.data.quantity);
        expectSame('the status', changed.data.status, status);
        expectThat(changed.etag !== undefined && changed.etag !== etag, `the ETag is ${changed.etag} as before`);
        return `pet ${petId} from ${quantity} to ${changed.data.quantity}`;
      },
    },
    {
      name: 'an update with the current ETag goes through, and puts the quantity back',
      run: async (service) => {
        const { petId, quantity } = required(found).entry;
        restored = await update(service, petId, quantity, { ifMatch: required(changed).etag, idempotencyKey });
        return `pet ${petId} is at ${restored.data.quantity}, as it was`;
      },
    },
    {
      name: 'the same update with the same Idempotency-Key gets the same answer',
      run: async (service) => {
        const { data, etag } = required(restored);
        const ifMatch = required(changed).etag;
        const again = await update(service, data.petId, data.quantity, { ifMatch, idempotencyKey });
        expectSame('the ETag', again.etag, etag);
        return `200, ETag ${etag}`;
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

/** The entry of a pet, as long as it is the first of the list. */
const firstEntry = async ({ client }: Service, petId: bigint): Promise<InventoryItem | undefined> =>
  (await client.listInventoryPage({ limit: 1 })).data.find((entry) => entry.petId === petId);

/** The ETag in the refusal of an update with another one. @throws Error where it is carried out, or refused in another way */
async function currentTag(call: Promise<unknown>): Promise<string> {
  const refusal: unknown = await call.then(
    () => new Error('the update was carried out'),
    (error: unknown) => error,
  );
  if (!(refusal instanceof ApiError)) throw refusal;
  const { status, code, etag } = refusal;
  expectSame('the status', status, 412);
  expectSame('the code', code, 'PRECONDITION_FAILED');
  expectThat(etag !== undefined && /^".*"$/.test(etag), `the ETag is ${etag}`);
  return etag;
}

async function update(
  { client }: Service,
  petId: bigint,
  quantity: number,
  options: { ifMatch: string | undefined; idempotencyKey?: string },
): Promise<Answer<InventoryItem>> {
  try {
    const answer = await client.updateInventory(petId, quantity, options);
    expectSame('the quantity in the answer', answer.data.quantity, quantity);
    return answer;
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 412;
    if (isRefused) throw new NotApplicable(`somebody else has updated pet ${petId} meanwhile, and that stays`);
    throw error;
  }
}
