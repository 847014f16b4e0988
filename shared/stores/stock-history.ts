import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../contract/int64.ts';
import type { InventoryItem } from '../contract/inventory.ts';
import { timeToLive } from '../item-attributes.ts';
import { ANY_ID } from './stock-store.ts';

/** Max wait of a request for the write of a record, in milliseconds: its change has already been made. */
const MAX_WAIT_MS = 500;

/** What a record names as replaced if the pet had no entry. */
export const NO_ENTRY = 'none';

/** How an entry was written: by an operation of the API, or by an admin. */
export type WriteKind = 'update' | 'adjustment' | 'batch' | 'set' | 'import' | 'restore' | 'removal';

/** Who wrote an entry, how and why. */
export interface StockAuthor {
  /** A client's record id, as a restore changes key ids; an admin as in the history of keys. */
  readonly who: string;
  /** Label and last four characters of the client's token. */
  readonly token?: string | undefined;
  readonly how: WriteKind;
  /** The client's Idempotency-Key. */
  readonly reference?: string | undefined;
  readonly reason?: string | undefined;
}

/** A write of an entry. What the write does not know is undefined. */
export interface StockWrite extends Partial<Omit<InventoryItem, 'petId'>> {
  readonly petId: Int64;
  /** Unix milliseconds. */
  readonly at: number;
  /** The version that it wrote; of a removal, a random one. */
  readonly version: string;
  /** What an adjustment added. */
  readonly added?: number | undefined;
  /** The quantity before. */
  readonly was?: number | undefined;
  /** The version that it replaced; {@link NO_ENTRY} if there was no entry. */
  readonly replaced?: string | undefined;
}

interface HistorySettings {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** Called if a change is perhaps not recorded. */
  readonly onLost: (error: unknown, petId: Int64) => void;
  /** {@link MAX_WAIT_MS} by default. */
  readonly maxWaitMs?: number;
}

/**
 * Who changed the stock of a pet (partition = pet, sort key = ISO time and version): an item for each write of its
 * entry, kept for 400 days. Each names the version that it replaced, if the write knows it, which reveals gaps.
 */
export class StockHistory {
  readonly #settings: HistorySettings;

  constructor(settings: HistorySettings) {
    this.#settings = settings;
  }

  /** A put whose condition fails. */
  probe = async (): Promise<void> => {
    const put = this.writeOf({ petId: ANY_ID, at: 0, version: NO_ENTRY }, { who: NO_ENTRY, how: 'update' });
    const condition = { ConditionExpression: 'attribute_exists(petId)' };
    await this.#settings.client.send(new PutCommand({ ...put, ...condition })).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
    });
  };

  /** The put of a record, for PutItem and for TransactWriteItems. */
  writeOf({ petId, at, version, ...fields }: StockWrite, author: StockAuthor) {
    const key = { petId: BigInt(petId), change: new Date(at).toISOString() + version };
    const Item = { ...key, ...fields, ...author, ttl: timeToLive(at) };
    return { TableName: this.#settings.tableName, Item };
  }

  /** Records a completed change. It never throws: a failure is reported. */
  async put(write: StockWrite, author: StockAuthor): Promise<void> {
    const { client, maxWaitMs = MAX_WAIT_MS } = this.#settings;
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`No response within ${maxWaitMs} ms`)), maxWaitMs);
    try {
      await Promise.race([client.send(new PutCommand(this.writeOf(write, author))), timedOut]);
    } catch (error) {
      this.warn(error, write.petId);
    } finally {
      clearTimeout(timer);
    }
  }

  warn(error: unknown, petId: Int64): void {
    this.#settings.onLost(error, petId);
  }
}
