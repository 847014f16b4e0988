import type { Random } from '../support/random.ts';
import type { Item } from './attributes.ts';
import type { VirtualTables } from './virtual-tables.ts';

const statuses = ['available', 'pending', 'sold'] as const;

/** Admins who load stock, and take it out, while it is updated. */
export class StockAdmin {
  readonly #tables: VirtualTables;
  readonly #table: string;
  readonly #pets: number;
  #versions = 0;

  /** @param pets how many there are, with the ids from 1 on */
  constructor(tables: VirtualTables, table: string, pets: number) {
    this.#tables = tables;
    this.#table = table;
    this.#pets = pets;
  }

  putAll(at: number): void {
    for (let pet = 1; pet <= this.#pets; pet++) this.#put(pet, 'available', at);
  }

  /** The current version of a pet, as a GET tells it. */
  versionOf(petId: string): string {
    return this.#tables.itemAt(this.#table, keyOf(petId))?.['version']?.S ?? 'absent';
  }

  act(random: Random, at: number): void {
    const pet = 1 + random.below(this.#pets);
    if (random.isLikely(0.7)) this.#put(pet, random.pick(statuses), at);
    else
      this.#tables.execute(
        'DeleteItemCommand',
        { TableName: this.#table, Key: keyOf(String(pet)) },
        { at, writer: 'admin' },
      );
  }

  #put(pet: number, status: string, at: number): void {
    const version = `loaded-${++this.#versions}`;
    const entry = {
      quantity: { N: String(1_000_000 + this.#versions) },
      status: { S: status },
      version: { S: version },
    };
    const Item = { ...keyOf(String(pet)), ...entry };
    this.#tables.execute('PutItemCommand', { TableName: this.#table, Item }, { at, writer: 'admin' });
  }
}

const keyOf = (petId: string): Item => ({ storeId: { S: 'main' }, petId: { N: petId } });
