import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { type KeyRecord, unusedCounters } from '../keys/key-record.ts';
import { UNTIL_RESUMED } from '../keys/verdict.ts';
import type { ApiStage } from './gateway-client.ts';
import { type GatewayKey, isOnNoPlan, readKeyAgain } from './gateway-state.ts';
import {
  identityNames,
  isHalfPurged,
  type KeyChange,
  type KeyTable,
  revocation,
  UnreadableRecordError,
} from './key-table.ts';

/** What a sync works with. */
interface Sync {
  readonly gateway: APIGatewayClient;
  readonly table: KeyTable;
  readonly stage: ApiStage;
  readonly report: SyncReport;
}

/** What a sync did, in ids of keys. */
export interface SyncReport {
  readonly added: string[];
  readonly changed: string[];
  /** They are on no plan, or disabled in API Gateway; their counters are kept. */
  readonly disabled: string[];
  /** They are gone from API Gateway, and closed for good. */
  readonly removed: string[];
  /** Changed by somebody else meanwhile, and left to the next sync. */
  readonly conflicts: string[];
  readonly unchanged: string[];
  /** What an admin should put right, in words. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS has a limit to them. */
  readonly keysInAccount: number;
}

type Change = 'added' | 'changed' | 'disabled' | 'removed';

/**
 * Brings one record after the other up to date, and reports what it did. Each write replaces the revision that was read
 * before API Gateway was. A suspension and a revocation are none of its business: they stay.
 */
export class Mirror {
  readonly #sync: Sync;

  constructor(sync: Sync) {
    this.#sync = sync;
  }

  /** A key that has no record. @param lineage that of the keys it replaces, or its own id */
  async add({ keyId, registered, isLeftAlone }: GatewayKey, lineage: string): Promise<void> {
    if (!registered || isLeftAlone) return;
    if ('problem' in registered) return this.#reportProblem(keyId, registered.problem);
    const record = { ...registered.identity, ...unusedCounters, lineage, interimUntil: 0, revoked: false };
    await this.#write('added', keyId, () => this.#sync.table.add(record));
  }

  /** A key that is on a plan, or left alone. */
  async update(record: KeyRecord, key: GatewayKey): Promise<void> {
    const { keyId, apiKey, registered, isLeftAlone } = key;
    if (!registered || isLeftAlone || 'problem' in registered) {
      if (registered && 'problem' in registered && !isLeftAlone) this.#reportProblem(keyId, registered.problem);
      // Nothing else is taken over while a command is at work, or a tag has a typo; but a key that was closed is closed.
      return this.#change('disabled', keyId, record, apiKey.enabled ? {} : { enabled: false });
    }
    const isSuspended = record.suspendedUntil >= UNTIL_RESUMED;
    if (isSuspended && apiKey.enabled)
      this.#reportProblem(keyId, `is suspended, but enabled in API Gateway: suspend it again, or resume it`);
    const identity = { ...registered.identity, ...(isSuspended && !record.enabled && { enabled: false }) };
    const loosens =
      identity.expiresAt !== record.expiresAt ||
      identity.replacedBy !== record.replacedBy ||
      (identity.enabled && !record.enabled);
    const change = Object.fromEntries(identityNames.map((name) => [name, identity[name]]));
    await this.#change('changed', keyId, record, change, async () => !loosens || this.#isStill(key));
  }

  /** A key that API Gateway seems to have no longer. */
  async remove(record: KeyRecord): Promise<void> {
    const isGone = async () => (await readKeyAgain(this.#sync.gateway, record.keyId)) === undefined;
    await this.#change('removed', record.keyId, record, revocation(), isGone);
  }

  /** A key that seems to be on no plan. */
  async disableUnlessPlanned(record: KeyRecord, { keyId }: GatewayKey): Promise<void> {
    await this.#change('disabled', keyId, record, { enabled: false }, () =>
      isOnNoPlan(this.#sync.gateway, this.#sync.stage, keyId),
    );
  }

  /** A key that was revoked, and is in API Gateway all the same, under its id or another. */
  async keepRevoked(record: KeyRecord, { keyId }: GatewayKey): Promise<void> {
    this.#reportProblem(
      keyId,
      keyId === record.keyId
        ? 'was revoked, but is still in API Gateway: revoke it again'
        : `is the same as ${record.keyId}, which was revoked, and stays closed: delete it and issue another`,
    );
    if (isHalfPurged(record)) await this.#sync.table.revise(record, revocation());
  }

  /** Changes what differs in a record. @param isConfirmed asks API Gateway once more: a list may lag behind */
  async #change(
    what: Change,
    keyId: string,
    record: KeyRecord,
    wanted: KeyChange,
    isConfirmed: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<void> {
    const before: Readonly<Record<string, unknown>> = record;
    const change = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => before[name] !== value));
    if (Object.keys(change).length === 0) return void this.#sync.report.unchanged.push(keyId);
    await this.#write(what, keyId, async () => {
      return (await isConfirmed()) && (await this.#sync.table.revise(record, change)) !== undefined;
    });
  }

  async #isStill({ keyId, apiKey }: GatewayKey): Promise<boolean> {
    const now = await readKeyAgain(this.#sync.gateway, keyId);
    return now?.enabled === apiKey.enabled && isDeepStrictEqual({ ...now?.tags }, { ...apiKey.tags });
  }

  /** @param write says whether it was done, or somebody else was faster */
  async #write(what: Change, keyId: string, write: () => Promise<boolean>): Promise<void> {
    try {
      this.#sync.report[(await write()) ? what : 'conflicts'].push(keyId);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      this.#sync.report.problems.push(`${error.message}. Nothing was written.`);
    }
  }

  #reportProblem(keyId: string, problem: string): void {
    this.#sync.report.problems.push(`The key ${keyId} ${problem}.`);
  }
}
