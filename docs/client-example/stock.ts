import { ApiError, InventoryClient } from 'pet-store-inventory-client';

const store = new InventoryClient({
  baseUrl: process.env.PET_STORE_URL ?? 'http://localhost:3000/v1',
  apiKey: process.env.PET_STORE_API_KEY ?? '',
});

for await (const { petId, quantity } of store.listInventory({ status: 'available' })) {
  console.log(`pet ${petId}: ${quantity}`);
}

const results = await store.updateInventories([
  { petId: 101n, quantity: 6 },
  { petId: 102n, quantity: 2, ifQuantity: 2 },
]);
for (const { petId, outcome, error } of results)
  if (outcome !== 'applied') console.log(`pet ${petId}: ${outcome}, ${error.message}`);

const { data, etag, limits } = await store.updateInventory(101n, 7);
console.log(`pet ${data.petId} is set to ${data.quantity}; ${limits?.remaining} requests are left`);

try {
  await store.updateInventory(101n, 8, { ifMatch: etag });
  await store.updateInventory(101n, 9, { ifMatch: etag });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log(`${error.status} ${error.code}: ${error.message}`);
}
