import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayClient, ApiKey } from '@aws-sdk/client-api-gateway';
import { type KeyRecord, unusedCounters } from '../keys/key-record.ts';
import { NEVER } from '../keys/working-token.ts';
import { isIssued } from '../keys/token.ts';
import type { ApiStage } from './gateway-client.ts';
import { type GatewayKey, planIdOf, readKeyAgain } from './gateway-state.ts';
import { gatewayTags, isoTime, UNDER_WAY_MS } from './gateway-tags.ts';
import {
  identityNames,
  type KeyChange,
  type KeyTable,
  needsRenewal,
  revocation,
  UnreadableRecordError,
} from './key-table.ts';
import { tokenEntry } from './key-tokens.ts';

/** What a sync works with. */
interface Sync {
  readonly gateway: APIGatewayClient;
  readonly table: KeyTable;
  readonly stage: ApiStage;
  readonly report: SyncReport;
  /** Writes to a key's tag when its tokens were last ended; without it, a tag that is behind is a problem. */
  readonly mendTag?: ((keyId: string, tokensEndedAt: number) => Promise<void>) | undefined;
}

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

  /** A key that has no record. The record of one that the admin command made had its tokens, which nothing brings back. */
  async add({ keyId, apiKey, registered, closeOnly }: GatewayKey): Promise<void> {
    if (!registered || closeOnly) return;
    if ('problem' in registered) return this.#reportProblem(keyId, registered.problem);
    const { identity } = registered;
    if (isIssued(identity.recordId)) {
      // It may have been made since the table was read.
      if (await this.#sync.table.get(identity.recordId)) return void this.#sync.report.conflicts.push(keyId);
      return this.#reportProblem(keyId, 'has no record, and none of its tokens works: rotate it, or revoke it');
    }
    const tokens = tokenEntry(apiKey.value ?? '', {}, identity.createdAt);
    const record = { ...identity, ...unusedCounters, tokens, interimUntil: 0, revoked: false };
    await this.#write('added', keyId, () => this.#sync.table.add(record));
  }

  /** A key that is on a plan, may only be closed, or came back with a backup. */
  async update(record: KeyRecord, key: GatewayKey): Promise<void> {
    await this.#takeOver(record, key);
    await this.#mendTag(record, key);
  }

  async #takeOver(record: KeyRecord, key: GatewayKey): Promise<void> {
    const { keyId, apiKey, registered, closeOnly } = key;
    const restored = isRestored(record, apiKey);
    if (restored) this.#reportProblem(keyId, 'was restored with tokens that had been ended, and is closed: rotate it');
    const isClosing = restored && !record.restored;
    if (!registered || closeOnly || 'problem' in registered || isBusy(record) || isClosing) {
      if (registered && 'problem' in registered && !closeOnly) this.#reportProblem(keyId, registered.problem);
      // Nothing else is taken over while a command is under way, or a tag has a typo; but a key that was closed is closed.
      const closed = { enabled: false, ...(restored && { restored, busy: undefined }) };
      return this.#change('disabled', keyId, record, apiKey.enabled && !restored ? {} : closed);
    }
    const isSuspended = record.suspendedUntil >= NEVER;
    if (isSuspended && apiKey.enabled)
      this.#reportProblem(keyId, 'is suspended, but enabled in API Gateway: suspend it again, or resume it');
    const staysClosed = (isSuspended && !record.enabled) || restored;
    const identity = { ...registered.identity, ...(staysClosed && { enabled: false }) };
    const movesOrLoosens =
      identity.plan !== record.plan ||
      identity.perMinute !== record.perMinute ||
      identity.perDay !== record.perDay ||
      identity.expiresAt !== record.expiresAt ||
      (identity.enabled && !record.enabled);
    // A mark that is still there is of a command that was cut off: without it, the command can write nothing late.
    const change = { ...Object.fromEntries(identityNames.map((name) => [name, identity[name]])), busy: undefined };
    await this.#change('changed', keyId, record, change, async () => !movesOrLoosens || this.#isStill(key));
  }

  async #mendTag({ tokensEndedAt = 0 }: KeyRecord, { keyId, apiKey }: GatewayKey): Promise<void> {
    if (tokensEndedAt <= tokensEndedTag(apiKey.tags)) return;
    if (this.#sync.mendTag) await this.#sync.mendTag(keyId, tokensEndedAt);
    else this.#reportProblem(keyId, `has an old tag ${gatewayTags.tokensEnded}: run npm run admin -- keys sync`);
  }

  /** A key that API Gateway seems to have no longer. */
  async remove(record: KeyRecord): Promise<void> {
    const isGone = async () => (await readKeyAgain(this.#sync.gateway, record.keyId)) === undefined;
    await this.#change('removed', record.keyId, record, revocation(), isGone);
  }

  /** A key that seems to be on no plan. */
  async disableUnlessPlanned(record: KeyRecord, { keyId, apiKey }: GatewayKey): Promise<void> {
    const { gateway, stage } = this.#sync;
    const isOnNoPlan = async () => (await planIdOf(gateway, stage, keyId)) === undefined;
    // Between its two plans a key that is being moved is on none.
    const staysOpen = isBusy(record) && apiKey.enabled;
    await this.#change('disabled', keyId, record, staysOpen ? {} : { enabled: false }, isOnNoPlan);
  }

  /** A key that was revoked, and is in API Gateway all the same, under its id or another. */
  async keepRevoked(record: KeyRecord, { keyId }: GatewayKey): Promise<void> {
    this.#reportProblem(
      keyId,
      keyId === record.keyId
        ? 'was revoked, but is still in API Gateway: revoke it again'
        : `is the same as ${record.keyId}, which was revoked, and stays closed: delete it and issue another`,
    );
    if (needsRenewal(record)) await this.#sync.table.revise(record, revocation());
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

  async #isStill({ keyId, apiKey, usagePlanId }: GatewayKey): Promise<boolean> {
    const { gateway, stage } = this.#sync;
    const now = await readKeyAgain(gateway, keyId);
    const isSame = now?.enabled === apiKey.enabled && isDeepStrictEqual({ ...now?.tags }, { ...apiKey.tags });
    return isSame && (await planIdOf(gateway, stage, keyId)) === usagePlanId;
  }

  /** @param write says whether it was done, or another was faster */
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

/** Whether a command with several steps is under way. One that was cut off is not, after a while. */
export const isBusy = ({ busy }: KeyRecord): boolean => busy !== undefined && Date.now() - busy.since < UNDER_WAY_MS;

/**
 * Whether a record came from a backup, and with it a token that had been ended: it is older than the last ending, as the
 * tag has it; or was found to be, and not rotated since. A key from the console has one token, which ends with it.
 */
export const isRestored = (record: KeyRecord, { tags }: Pick<ApiKey, 'tags'>): boolean =>
  record.restored ?? (isIssued(record.recordId) && (record.tokensEndedAt ?? 0) < tokensEndedTag(tags));

/** When a token was last ended, Unix milliseconds; 0 where the tag is missing, or no time. */
export function tokensEndedTag(tags: ApiKey['tags']): number {
  const time = isoTime(tags?.[gatewayTags.tokensEnded] ?? '');
  return Number.isNaN(time) ? 0 : time;
}
