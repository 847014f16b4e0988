import * as v from 'valibot';
import { type InventoryItem, inventoryItemSchema } from '../../shared/contract/inventory.ts';
import { type Order, orderSchema } from '../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema } from '../../shared/contract/pets.ts';

/** A small pet store. A shelf is a category; a pet has a petId, a quantity, a status, a name and tags. */
const shelves = `
dogs
  101  4     available  Labrador Retriever     family, large
  102  2     available  Border Collie          clever, active
  103  1     pending    French Bulldog         small, quiet
  104  0     sold       Golden Retriever       family, large
  105  3     available  Beagle                 family, active
  106  1     pending    Miniature Dachshund    small, clever

cats
  201  5     available  European Shorthair     family, indoor
  202  3     available  Maine Coon             large, long-haired
  203  2     pending    Siamese                clever, indoor
  204  0     sold       Ragdoll                quiet, long-haired
  205  1     available  British Shorthair      quiet, indoor

rabbits
  301  8     available  Netherland Dwarf       small, indoor
  302  6     available  Holland Lop            small, family
  303  0     sold       Flemish Giant          large, quiet
  304  2     pending    Lionhead               small, long-haired

guinea pigs
  401  12    available  American Guinea Pig    family, small
  402  7     available  Abyssinian Guinea Pig  active, small
  403  4     pending    Peruvian Guinea Pig    long-haired, small

hamsters
  501  15    available  Syrian Hamster         nocturnal, small
  502  9     available  Roborovski Hamster     nocturnal, active
  503  0     sold       Chinese Hamster        nocturnal, quiet

parrots
  601  2     available  African Grey           clever, talks
  602  1     pending    Blue-fronted Amazon    clever, talks
  603  0     sold       Sun Conure             active, colourful

budgies
  651  18    available  Green Budgerigar       small, colourful
  652  11    available  Blue Budgerigar        small, colourful

fish
  701  120   available  Neon Tetra             freshwater, colourful
  702  85    available  Guppy                  freshwater, colourful
  703  40    pending    Zebra Danio            freshwater, active
  704  64    available  Corydoras Catfish      freshwater, quiet
  705  0     sold       Siamese Fighting Fish  freshwater, colourful
  706  33    available  Angelfish              freshwater, large

turtles
  801  3     available  Hermann’s Tortoise     land, quiet
  802  1     pending    Musk Turtle            freshwater, small

geckos
  851  5     available  Leopard Gecko          nocturnal, quiet
  852  0     sold       Crested Gecko          nocturnal, clever

ants
  901  2500  available  Black Garden Ant       colony, active
`;

const blocks = shelves
  .trim()
  .split('\n\n')
  .map((block) => block.split('\n').map((line) => line.trim()));

const lines = blocks.flatMap(([shelf, ...rows], index) =>
  rows.map((row) => {
    const [petId = '', quantity, status, name, tags = ''] = row.split(/ {2,}/);
    const category = { id: String(index + 1), name: shelf };
    return { petId, quantity: Number(quantity), status, name, category, tags: tags.split(', ') };
  }),
);

const tagNames = [...new Set(lines.flatMap(({ tags }) => tags))];

/** Stock of the sample store, in ascending petId. */
export const sampleStock: readonly InventoryItem[] = v.parse(v.array(inventoryItemSchema), lines);

/** A pet for every entry of {@link sampleStock}, in the same order. */
export const samplePets: readonly PetRecord[] = v.parse(
  v.array(petRecordSchema),
  lines.map(({ petId, category, name, tags }) => ({
    id: petId,
    category,
    name,
    photoUrls: [`https://images.example.com/pets/${petId}.jpg`],
    tags: tags.map((tag) => ({ id: String(tagNames.indexOf(tag) + 1), name: tag })),
  })),
);

/** Orders of the sample store: id, petId, quantity, status, and the day they are shipped where that is known. */
const orders = `
  1   104  1    delivered  2026-08-03
  2   204  1    delivered  2026-08-05
  3   701  12   delivered  2026-08-11
  4   303  2    delivered  2026-08-18
  5   503  1    delivered  2026-08-27
  6   901  500  delivered  2026-09-02
  7   603  1    delivered  2026-09-09
  8   852  1    delivered  2026-09-14
  9   705  2    delivered  2026-09-21
  10  651  2    delivered  2026-10-06
  11  702  6    delivered  2026-10-12
  12  103  1    approved   2026-12-01
  13  203  2    approved   2026-12-03
  14  304  1    approved   2026-12-04
  15  602  1    approved   2026-12-08
  16  703  20   approved   2026-12-10
  17  802  1    approved   2026-12-15
  18  106  1    placed
  19  403  2    placed
  20  304  1    placed
  21  703  10   placed
  22  501  1    placed
`;

/** Orders of the sample store, in ascending id: those for its pending pets are open, those for its sold ones done. */
export const sampleOrders: readonly Order[] = v.parse(
  v.array(orderSchema),
  orders
    .trim()
    .split('\n')
    .map((line) => {
      const [id, petId, quantity, status, shipDay] = line.trim().split(/ +/);
      return {
        id,
        petId,
        quantity: Number(quantity),
        shipDate: shipDay && `${shipDay}T10:00:00Z`,
        status,
        complete: status === 'delivered',
      };
    }),
);
