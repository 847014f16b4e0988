import { recordToJson } from '../shared/contract/exact-json.ts';
import type { Int64 } from '../shared/contract/int64.ts';
import type { Pet } from '../shared/contract/pets.ts';
import { documentClient, readWithRetries, responseTo } from '../shared/dynamodb.ts';
import { pageOrigin, requiredEnv } from '../shared/environment.ts';
import { withEntityTag } from '../shared/http/conditional-requests.ts';
import { operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { type ApiRequest, parsePetId } from '../shared/http/request.ts';
import { deprecationHeaders } from '../shared/http/response-headers.ts';
import { findPet } from '../shared/stores/find-pet.ts';
import { petNotFound } from '../shared/stores/change-failures.ts';
import { ANY_ID, StockStore } from '../shared/stores/stock-store.ts';

const client = documentClient();
const petsTable = requiredEnv('PETS_TABLE');
const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));

/** `GET /pets/{petId}`: one pet, with the status of its stock entry (deprecated). */
async function getPet(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const [record, inStock] = await readWithRetries(() => find(petId));
  if (!record) throw petNotFound(petId);
  const pet: Pet = { ...record, status: inStock?.entry.status };
  return withEntityTag(request.headers, { status: 200, body: recordToJson(pet) });
}

const find = (petId: Int64) => Promise.all([findPet(client, petsTable, petId), stock.find(petId)]);

export const { handler, initialize } = operationHandler(getPet, {
  headers: deprecationHeaders({
    deprecatedAt: new Date(requiredEnv('DEPRECATED_AT')),
    sunsetAt: new Date(requiredEnv('SUNSET_AT')),
    page: pageOrigin(),
  }),
  store: { probes: [() => find(ANY_ID)], responseTo },
});
