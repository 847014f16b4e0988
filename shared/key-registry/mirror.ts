import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayClient, ApiKey } from '@aws-sdk/client-api-gateway';
import type { KeyRecord } from '../keys/key-record.ts';
import { plans } from '../keys/plans.ts';
import { NEVER } from '../keys/verdict.ts';
import { isIssued } from '../keys/token.ts';
import { usagePlanIdOf } from './customer-plan.ts';
import { type ApiStage, getGatewayKey } from './gateway-client.ts';
import type { ListedKey } from './gateway-state.ts';
import { gatewayTags, isoTime, UNDER_WAY_MS } from './gateway-tags.ts';
import {
  differences,
  type KeyChange,
  type KeyTable,
  needsRenewal,
  newRecord,
  revocation,
  UnreadableRecordError,
} from './key-table.ts';
import { tokenEntry } from './key-tokens.ts';

/** What a sync did, in ids of keys. */
export interface SyncReport {
  readonly added: string[];
  readonly changed: string[];
  /** They are on no plan, or disabled in API Gateway; their counters are kept. */
  readonly disabled: string[];
  /** They are gone from API Gateway, and closed for good. */
  readonly removed: string[];
  /** Changed by another meanwhile, and left to the next sync. */
  readonly conflicts: string[];
  readonly unchanged: string[];
  /** What an admin should put right, in words. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS has a limit to them. */
  readonly keysInAccount: number;
}

interface Sync {
  readonly gateway: APIGatewayClient;
  readonly table: KeyTable;
  readonly stage: ApiStage;
  readonly report: SyncReport;
  /** Writes to a key's tag when its tokens were last ended; without it, a tag that is behind is a problem. */
  readonly mendTag?: ((keyId: string, tokensEndedAt: number) => Promise<void>) | undefined;
}

/**
 * Updates one record after the other, and reports what it did. Each write replaces the revision that was read before API
 * Gateway was. What changes or closes a key is confirmed first: a list may lag behind. Suspensions and revocations stay.
 */
export class Mirror {
  readonly #sync: Sync;

  constructor(sync: Sync) {
    this.#sync = sync;
  }

  /** A key that has no record. */
  async add({ keyId, gatewayKey, registered, closeOnly }: ListedKey): Promise<void> {
    if (!registered || closeOnly) return;
    if ('problem' in registered) return this.#reportProblem(keyId, registered.problem);
    const { table, report } = this.#sync;
    const { identity } = registered;
    if (!isIssued(identity.recordId)) {
      const tokens = tokenEntry(gatewayKey.value ?? '', {}, identity.createdAt);
      return this.#write('added', keyId, () => table.add(newRecord(identity, { tokens })));
    }
    // The record had its tokens, which nothing brings back. It may have been made since the table was read.
    if (await table.get(identity.recordId)) report.conflicts.push(keyId);
    else this.#reportProblem(keyId, 'has no record, and none of its tokens works: rotate it, or revoke it');
  }

  /** A key that is on a plan, may only be closed, or came back with a backup. */
  async update(record: KeyRecord, key: ListedKey): Promise<void> {
    const { keyId, gatewayKey, registered, closeOnly } = key;
    await this.#mendTag(record, gatewayKey);
    const restored = isRestored(record, gatewayKey);
    if (restored) this.#reportProblem(keyId, 'was restored with tokens that had been ended, and is closed: rotate it');
    const closesRestored = restored && !record.restored;
    if (!registered || closeOnly || 'problem' in registered || isBusy(record) || closesRestored) {
      if (registered && 'problem' in registered && !closeOnly) this.#reportProblem(keyId, registered.problem);
      // While a command is under way, or a tag has a typo, a key that was disabled is closed, and nothing else changes.
      const closed = { enabled: false, ...(restored && { restored, busy: undefined }) };
      return this.#change('disabled', keyId, record, gatewayKey.enabled && !restored ? {} : closed);
    }
    const isSuspended = record.suspendedUntil >= NEVER;
    if (isSuspended && gatewayKey.enabled)
      this.#reportProblem(keyId, 'is suspended, but enabled in API Gateway: suspend it again, or resume it');
    const staysClosed = (isSuspended && !record.enabled) || restored;
    // A mark that is still there is of a command that was cut off: without it, the command can write nothing late.
    const change = { ...registered.identity, ...(staysClosed && { enabled: false }), busy: undefined };
    await this.#change('changed', keyId, record, change, async () =>
      isByCatalogue(record, change) ? true : this.#isAsListed(key),
    );
  }

  async #mendTag({ keyId, tokensEndedAt = 0 }: KeyRecord, { tags }: ApiKey): Promise<void> {
    if (tokensEndedAt <= tokensEndedTag(tags)) return;
    if (this.#sync.mendTag) await this.#sync.mendTag(keyId, tokensEndedAt);
    else this.#reportProblem(keyId, `has an old tag ${gatewayTags.tokensEnded}: run npm run admin -- keys sync`);
  }

  /** A key that seems to be gone from API Gateway. */
  async remove(record: KeyRecord): Promise<void> {
    const isGone = async () => (await getGatewayKey(this.#sync.gateway, record.keyId)) === undefined;
    await this.#change('removed', record.keyId, record, revocation(), isGone);
  }

  /** A key that seems to be on no plan. */
  async disableUnlessPlanned(record: KeyRecord, { keyId, gatewayKey }: ListedKey): Promise<void> {
    const { gateway, stage } = this.#sync;
    const isOnNoPlan = async () => (await usagePlanIdOf(gateway, stage, keyId)) === undefined;
    // Between its two plans a key that is being moved is on none.
    const staysOpen = isBusy(record) && gatewayKey.enabled;
    await this.#change('disabled', keyId, record, staysOpen ? {} : { enabled: false }, isOnNoPlan);
  }

  /** A key that was revoked, and is in API Gateway all the same, under its id or another. */
  async keepRevoked(record: KeyRecord, { keyId }: ListedKey): Promise<void> {
    this.#reportProblem(
      keyId,
      keyId === record.keyId
        ? 'was revoked, but is still in API Gateway: revoke it again'
        : `is the same as ${record.keyId}, which was revoked, and stays closed: delete it and issue another`,
    );
    if (needsRenewal(record)) await this.#sync.table.revise(record, revocation());
  }

  /** Changes what differs in a record. @param isConfirmed asks API Gateway once more */
  async #change(
    what: Change,
    keyId: string,
    record: KeyRecord,
    wanted: KeyChange,
    isConfirmed = () => Promise.resolve(true),
  ): Promise<void> {
    const { table, report } = this.#sync;
    const change = differences(record, wanted);
    if (Object.keys(change).length === 0) return void report.unchanged.push(keyId);
    await this.#write(what, keyId, async () => ((await isConfirmed()) ? table.revise(record, change) : undefined));
  }

  async #isAsListed({ keyId, gatewayKey, usagePlanId }: ListedKey): Promise<boolean> {
    const { gateway, stage } = this.#sync;
    const now = await getGatewayKey(gateway, keyId);
    const isSame = now?.enabled === gatewayKey.enabled && isDeepStrictEqual({ ...now?.tags }, { ...gatewayKey.tags });
    return isSame && (await usagePlanIdOf(gateway, stage, keyId)) === usagePlanId;
  }

  /** @param write returns the record; undefined where another was faster */
  async #write(what: Change, keyId: string, write: () => Promise<KeyRecord | undefined>): Promise<void> {
    const { report } = this.#sync;
    try {
      report[(await write()) ? what : 'conflicts'].push(keyId);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      report.problems.push(`${error.message}. Nothing was written.`);
    }
  }

  #reportProblem(keyId: string, problem: string): void {
    this.#sync.report.problems.push(`The key ${keyId} ${problem}.`);
  }
}

/** Whether a change is one of the limits of a plan alone: they stand in the code, and there is nothing to confirm. */
function isByCatalogue(record: KeyRecord, change: KeyChange): boolean {
  const changed = Object.keys(differences(record, change));
  return plans[record.plan].limits !== 'agreed' && changed.every((name) => name === 'perMinute' || name === 'perDay');
}

type Change = 'added' | 'changed' | 'disabled' | 'removed';

/** Whether a command with several steps is under way. One that was cut off is not, after a while. */
export const isBusy = ({ busy }: KeyRecord): boolean => busy !== undefined && Date.now() - busy.since < UNDER_WAY_MS;

/**
 * Whether a record came from a backup, and with it a token that had been ended: it is older than the last ending, as the
 * tag has it; or was found to be, and not rotated since. A key from the console has one token, which ends with it.
 */
export const isRestored = (record: KeyRecord, { tags }: ApiKey): boolean =>
  record.restored ?? (isIssued(record.recordId) && (record.tokensEndedAt ?? 0) < tokensEndedTag(tags));

/** When a token was last ended, Unix milliseconds; 0 where the tag is missing, or no time. */
export function tokensEndedTag(tags: ApiKey['tags']): number {
  const time = isoTime(tags?.[gatewayTags.tokensEnded] ?? '');
  return Number.isNaN(time) ? 0 : time;
}
