import { randomUUID } from 'node:crypto';
import { type Answer, ApiError, type InventoryItem } from '../../shared/client/pet-store-inventory-client.ts';
import { type Check, expectSame, expectThat, Mismatch, NotApplicable } from './check.ts';
import type { Service } from './service.ts';

/** An entry, and the ETag that it had when it was read. */
interface Found {
  readonly entry: InventoryItem;
  readonly etag: string;
}

/**
 * Updates of one pet: 7 requests. Its quantity is changed and put back, both only if nobody else has updated it since.
 */
export function updatingChecks(): readonly Check[] {
  const idempotencyKey = `smoke-${randomUUID()}`;
  let found: Found | undefined;
  let changed: Answer<InventoryItem> | undefined;
  let restored: Answer<InventoryItem> | undefined;
  return [
    {
      name: 'an update with a stale If-Match is refused, with the current ETag',
      run: async (service) => {
        found = await find(service);
        return `412 PRECONDITION_FAILED, ETag ${found.etag}`;
      },
    },
    {
      name: 'an update sets the quantity, and nothing else',
      run: async (service) => {
        const { entry, etag } = required(found);
        changed = await update(service, entry.petId, otherThan(entry.quantity), { ifMatch: etag });
        await expectListed(service, changed.data);
        expectSame('the status', changed.data.status, entry.status);
        expectThat(changed.etag !== undefined && changed.etag !== etag, `the ETag is ${changed.etag} as before`);
        return `pet ${entry.petId} from ${entry.quantity} to ${changed.data.quantity}`;
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
        expectSame('the quantity', again.data.quantity, data.quantity);
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

/** Less rather than more: for a moment, nobody can buy a pet that is not there. */
const otherThan = (quantity: number): number => (quantity > 0 ? quantity - 1 : 1);

/** A stock entry and its ETag, which an update with another one tells. The quantity is read after it, so it is no older. */
async function find(service: Service): Promise<Found> {
  const { petId, quantity } = await service.anEntry();
  const refusal = await refusalOf(service.client.updateInventory(petId, quantity, { ifMatch: '"smoke-check"' }));
  expectSame('the status', refusal.status, 412);
  expectSame('the code', refusal.code, 'PRECONDITION_FAILED');
  const { etag } = refusal;
  expectThat(etag !== undefined && /^".*"$/.test(etag), `the ETag is ${etag}`);
  const { data } = await service.client.listInventoryPage({ limit: 1 });
  const entry = data.find((candidate) => candidate.petId === petId);
  if (!entry) throw new NotApplicable(`pet ${petId} is gone by now`);
  return { entry, etag };
}

async function refusalOf(call: Promise<Answer<InventoryItem>>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Mismatch('the update was carried out');
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

async function expectListed({ client }: Service, { petId, quantity }: InventoryItem): Promise<void> {
  const { data } = await client.listInventoryPage({ limit: 1 });
  const entry = data.find((candidate) => candidate.petId === petId);
  if (entry) expectSame('the quantity in the list', entry.quantity, quantity);
}
