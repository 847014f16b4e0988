import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ApiKey } from '../../../infra/local/control-plane/gateway-records.ts';
import type { HistoryRow } from '../../../shared/key-registry/key-history.ts';
import { syncKeys, type SyncReport } from '../../../shared/key-registry/key-sync.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { HostClock } from '../../support/clocks.ts';
import { InProcessTarget, KEYS_TABLE } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

export const NOW = Date.UTC(2026, 10, 23, 9);
export const MINUTE_MS = 60_000;

/** What requests and the admin command have left in a record, the latter a while ago. */
const usedCounters = {
  currentMinute: 29_000_000,
  minuteUsed: 7,
  dayUsed: 70,
  minuteRefused: 3,
  suspendedUntil: 1_900_000_000_000,
  suspendedByAdmin: true,
  interimUntil: 1_700_000_000_000,
} as const satisfies Partial<KeyRecord>;

/**
 * API Gateway with the usage plans of a stage, and a keys table, as an admin changes them in the AWS console. The usage
 * plan of Free has the id `free`; the one that no customer is on, `overflow`. Empty when a test begins: call it where
 * hooks may stand.
 */
export class KeyRegistry extends InProcessTarget {
  /** Stands still at {@link NOW} when a test begins. */
  readonly clock = new HostClock();

  constructor() {
    super();
    beforeEach(() => {
      this.clock.moveTo(NOW);
      this.reset();
    });
    afterAll(() => {
      this.clock.release();
      this.close();
    });
  }

  sync(): Promise<SyncReport> {
    return syncKeys(this.target);
  }

  /** What a sync did, but for what it left unchanged. */
  async did(): Promise<Partial<SyncReport>> {
    const { unchanged: _, keysInAccount: __, ...report } = await this.sync();
    return report;
  }

  /** Makes an API key as in the console, or puts it anew, on a usage plan where one is given. @returns its id */
  putKey(differences: Partial<ApiKey> = {}, planId?: string): string {
    const key = anApiKey({ id: randomBytes(5).toString('hex'), name: 'acme', planId, ...differences });
    this.records.putApiKey(key);
    return key.id;
  }

  /** Changes an API key. */
  update(keyId: string, differences: Partial<ApiKey>): void {
    this.records.putApiKey({ ...(this.records.apiKey(keyId) ?? anApiKey()), ...differences });
  }

  /** A key from the console that is in the table. @returns its record */
  async consoleKey(planId: string): Promise<KeyRecord> {
    const keyId = this.putKey({}, planId);
    await this.sync();
    const record = (await this.keys()).find((each) => each.keyId === keyId);
    if (!record) throw new Error(`The key ${keyId} has no record`);
    return record;
  }

  /** A key that the admin command has made, on the Free plan, used and suspended for a time. @returns its record */
  async issuedKey(differences: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const { createdAt } = anApiKey();
    const keyId = randomBytes(5).toString('hex');
    const key = aKey({ keyId, revision: 1, createdAt, ...usedCounters, ...differences });
    this.putKey({ id: keyId, value: key.recordId }, key.plan);
    return this.put(key);
  }

  /** Puts a record into the table as it is: a backup does. */
  async put<Item extends object>(record: Item): Promise<Item> {
    await this.target.documents.send(new PutCommand({ TableName: KEYS_TABLE, Item: record }));
    return record;
  }

  /** The changes of a key, the newest first. */
  async historyOf({ recordId }: Pick<KeyRecord, 'recordId'>): Promise<HistoryRow[]> {
    const record = await this.target.keyTable.get(recordId);
    return record ? this.target.history.of(record, 100) : [];
  }

  read({ recordId }: KeyRecord): Promise<KeyRecord | undefined> {
    return this.target.keyTable.get(recordId);
  }
}

/** What {@link KeyRegistry.did} returns of a sync that did so much. */
export const did = (report: { readonly [Part in keyof SyncReport]?: unknown } = {}) => {
  return { added: [], changed: [], closed: [], applied: [], opened: [], left: [], problems: [], ...report };
};
