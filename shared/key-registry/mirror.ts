import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { type KeyRecord, unusedCounters } from '../keys/key-record.ts';
import { UNTIL_RESUMED } from '../keys/suspension.ts';
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
import type { SyncReport } from './sync-report.ts';

/**
 * Brings one record after the other up to date, and reports what it did. Each write replaces the revision that was read
 * before API Gateway was. A suspension and a revocation are none of its business: they stay.
 */
export class Mirror {
  readonly #gateway: APIGatewayClient;
  readonly #table: KeyTable;
  readonly #stage: ApiStage;
  readonly #report: SyncReport;

  constructor(gateway: APIGatewayClient, table: KeyTable, stage: ApiStage, report: SyncReport) {
    this.#gateway = gateway;
    this.#table = table;
    this.#stage = stage;
    this.#report = report;
  }

  /** A key that has no record. @param lineage that of the keys it replaces, or its own id */
  async add({ keyId, registered, isLeftAlone }: GatewayKey, lineage: string): Promise<void> {
    if (!registered || isLeftAlone) return;
    if ('problem' in registered) return this.#reportProblem(keyId, registered.problem);
    const record = { ...registered.identity, ...unusedCounters, lineage, interimUntil: 0, revoked: false };
    await this.#write('added', keyId, () => this.#table.add(record));
  }

  /** A key that is on a plan, or left alone. */
  async update(record: KeyRecord, key: GatewayKey): Promise<void> {
    const { keyId, apiKey, registered, isLeftAlone } = key;
    if (!registered || isLeftAlone || 'problem' in registered) {
      if (registered && 'problem' in registered && !isLeftAlone) this.#reportProblem(keyId, registered.problem);
      // The table stays as it is, but neither a command at work nor a typo keeps a key open that was closed.
      return apiKey.enabled ? this.#unchanged(keyId) : this.#disable(record);
    }
    const isSuspended = record.suspendedUntil >= UNTIL_RESUMED;
    if (isSuspended && apiKey.enabled)
      this.#reportProblem(keyId, `is suspended, but enabled in API Gateway: suspend it again, or resume it`);
    const identity = { ...registered.identity, ...(isSuspended && !record.enabled && { enabled: false }) };
    const names = identityNames.filter((name) => record[name] !== identity[name]);
    if (names.length === 0) return this.#unchanged(keyId);
    const loosens = names.some(
      (name) => name === 'expiresAt' || name === 'replacedBy' || (name === 'enabled' && identity[name]),
    );
    const change: KeyChange = Object.fromEntries(names.map((name) => [name, identity[name]]));
    await this.#write('changed', keyId, async () => {
      return (!loosens || (await this.#isStill(key))) && this.#revise(record, change);
    });
  }

  /** A key that API Gateway seems to have no longer. */
  async remove(record: KeyRecord): Promise<void> {
    await this.#write('removed', record.keyId, async () => {
      const isGone = (await readKeyAgain(this.#gateway, record.keyId)) === undefined;
      return isGone && this.#revise(record, revocation());
    });
  }

  /** A key that seems to be on no plan. */
  async disableUnlessPlanned(record: KeyRecord, { keyId }: GatewayKey): Promise<void> {
    if (record.enabled && !(await isOnNoPlan(this.#gateway, this.#stage, keyId))) this.#report.conflicts.push(keyId);
    else await this.#disable(record);
  }

  /** A key that was revoked, and is in API Gateway all the same, under its id or another. */
  async keepRevoked(record: KeyRecord, { keyId }: GatewayKey): Promise<void> {
    this.#reportProblem(
      keyId,
      keyId === record.keyId
        ? 'was revoked, but is still in API Gateway: revoke it again'
        : `is the same as ${record.keyId}, which was revoked, and stays closed: delete it and issue another`,
    );
    if (isHalfPurged(record)) await this.#table.revise(record, revocation());
  }

  async #revise(record: KeyRecord, change: KeyChange): Promise<boolean> {
    return (await this.#table.revise(record, change)) !== undefined;
  }

  #unchanged(keyId: string): void {
    this.#report.unchanged.push(keyId);
  }

  async #disable(record: KeyRecord): Promise<void> {
    if (!record.enabled) return this.#unchanged(record.keyId);
    await this.#write('disabled', record.keyId, () => this.#revise(record, { enabled: false }));
  }

  /** Asks for a key once more before something lets it in, or in for longer, on the strength of a list. */
  async #isStill({ keyId, apiKey }: GatewayKey): Promise<boolean> {
    const now = await readKeyAgain(this.#gateway, keyId);
    return now?.enabled === apiKey.enabled && isDeepStrictEqual({ ...now?.tags }, { ...apiKey.tags });
  }

  async #write(what: 'added' | 'changed' | 'disabled' | 'removed', keyId: string, write: () => Promise<boolean>) {
    try {
      this.#report[(await write()) ? what : 'conflicts'].push(keyId);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      this.#report.problems.push(`${error.message}. Nothing was written.`);
    }
  }

  #reportProblem(keyId: string, problem: string): void {
    this.#report.problems.push(`The key ${keyId} ${problem}.`);
  }
}
