export interface Attribute {
  readonly name: string;
  readonly type: 'STRING' | 'NUMBER';
}

export interface TableSchema {
  readonly partitionKey: Attribute;
  readonly sortKey?: Attribute;
  readonly timeToLiveAttribute?: string;
}

const string = (name: string): Attribute => ({ name, type: 'STRING' });
const number = (name: string): Attribute => ({ name, type: 'NUMBER' });

/** The tables of the service, by content. */
export const tableSchemas = {
  /** Stock levels: one item per pet, in petId order. */
  stock: { partitionKey: string('storeId'), sortKey: number('petId') },
  /** API keys with their limits and counters: one item per key, by the handle of its tokens. */
  keys: { partitionKey: string('recordId'), timeToLiveAttribute: 'purgeAt' },
  /** Records of the pets: one item per pet. */
  pets: { partitionKey: number('petId') },
  /** Orders: one item each, in the order of their ids. */
  orders: { partitionKey: string('storeId'), sortKey: number('orderId') },
  /** Idempotency records: updates with an Idempotency-Key and their responses, for a day. */
  requests: { partitionKey: string('requestId'), timeToLiveAttribute: 'ttl' },
  /** Who changed a key: one item per change, by the key's record and its revision, for 400 days. */
  history: { partitionKey: string('recordId'), sortKey: number('revision'), timeToLiveAttribute: 'ttl' },
  /** Admitted and refused requests: one item per key and UTC day, and one for all keys together, for 400 days. */
  usage: { partitionKey: string('recordId'), sortKey: string('day'), timeToLiveAttribute: 'ttl' },
  /** Who changed the stock of a pet: one item per write of its entry, by time and version, for 400 days. */
  changes: { partitionKey: number('petId'), sortKey: string('change'), timeToLiveAttribute: 'ttl' },
} as const satisfies Record<string, TableSchema>;

export type TableName = keyof typeof tableSchemas;

export const tableNames = Object.keys(tableSchemas).filter((name): name is TableName => name in tableSchemas);
