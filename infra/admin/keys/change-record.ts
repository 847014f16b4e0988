import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KeyChange, type NewRecord, revocation } from '../../../shared/key-registry/key-table.ts';
import { isBusy } from '../../../shared/key-registry/mirror.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { UNDER_WAY_MS } from '../../../shared/key-registry/gateway-tags.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { LEASE_MS } from '../../../shared/keys/remembered-key.ts';
import { AdminError, awsReason, isAnswer } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { time } from '../text-format.ts';

const MAX_TRIES = 20;

/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/**
 * How long API Gateway may take to know a change of keys everywhere, in milliseconds. Meanwhile the requests of the key
 * are metered on the interim plan.
 */
export const INTERIM_MS = 5 * 60_000;

type Mark = NonNullable<KeyRecord['busy']>;

/** A command with several steps gives up when it takes longer, in milliseconds: its mark counts for twice as long. */
const LONGEST_COMMAND_MS = 5 * 60_000;

/**
 * Changes a key in the keys table, also while others change it.
 *
 * @param change from the key as it is at that moment; may throw
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
export function changeRecord(
  target: Target,
  recordId: string,
  change: (keyRecord: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  return untilDone(async () => {
    const keyRecord = await readRecord(target, recordId);
    return target.keyTable.revise(keyRecord, change(keyRecord));
  });
}

/**
 * A command of several steps on one key. Its mark in the record keeps other such commands away, and syncs from anything
 * but closing. Each of its writes goes by the mark, and its last takes it away.
 */
export class BusyCommand {
  readonly #target: Target;
  readonly #recordId: string;
  readonly #since: number;
  readonly #id: string;
  #keepsMark = false;

  private constructor(target: Target, recordId: string, { since, id }: Mark) {
    this.#target = target;
    this.#recordId = recordId;
    this.#since = since;
    this.#id = id;
  }

  /**
   * Runs a command under its mark. A failure takes the mark away, unless the key is between two states, or a call that had no
   * answer may still arrive.
   *
   * @param change with the first write
   * @throws AdminError where another command is under way on the key, or the key was revoked
   */
  static async run<Result>(
    target: Target,
    { recordId, keyId }: KeyRecord,
    command: string,
    work: (busy: BusyCommand) => Promise<Result>,
    change: KeyChange = {},
  ): Promise<Result> {
    const mark: Mark = { by: command, since: Date.now(), id: randomBytes(3).toString('base64url') };
    await changeRecord(target, recordId, (now) => {
      if (now.busy && isBusy(now)) throw busyError(keyId, now.busy);
      return { ...change, busy: mark };
    });
    const busy = new BusyCommand(target, recordId, mark);
    try {
      return await work(busy);
    } catch (error) {
      if (busy.#keepsMark || (!(error instanceof AdminError) && !isAnswer(error))) throw busy.#interrupted(error);
      await busy.#abandon().catch(() => undefined);
      // Where it was revoked, that is what the admin should hear.
      if (error instanceof AdminError) await readRecord(target, recordId);
      throw error;
    }
  }

  /** Whether the mark is to stay if the command fails from here on: it then counts until it is ten minutes old. */
  keepMark(keepsMark: boolean): void {
    this.#keepsMark = keepsMark;
  }

  /** To be called before each call to API Gateway. @throws AdminError once the command has taken too long */
  checkTime(): void {
    if (Date.now() - this.#since > LONGEST_COMMAND_MS)
      throw new AdminError('The command took too long, and was given up. Run it again.');
  }

  /** The last write. @throws AdminError where the mark is another's by now, or was taken away by what closes the key */
  async end(change: (record: KeyRecord) => KeyChange): Promise<KeyRecord> {
    return changeRecord(this.#target, this.#recordId, (record) => {
      if (!this.#owns(record)) throw changedMeanwhile(record.keyId);
      return { ...change(record), busy: undefined };
    });
  }

  /** Takes the mark away, if it is still there, after a failure. */
  async #abandon(): Promise<void> {
    const record = await this.#target.keyTable.get(this.#recordId);
    if (record && this.#owns(record)) await this.#target.keyTable.revise(record, { busy: undefined });
  }

  #owns({ busy }: KeyRecord): boolean {
    return busy?.since === this.#since && busy.id === this.#id;
  }

  #interrupted(error: unknown): unknown {
    const reason = error instanceof AdminError ? error.message.replace(/\.$/, '') : awsReason(error);
    if (reason === undefined) return error;
    const why = awsReason(error) === undefined ? 'The key may be between two states' : 'What was sent may still arrive';
    return new AdminError(`${reason}. ${why}: run the same command again at ${endOfMark(this.#since)}.`);
  }
}

/** What a key has been called, where there may be no record of it. */
export type KeyNames = Pick<KeyRecord, 'recordId' | 'keyId' | 'name'>;

/**
 * Closes a key for good. One that has no record gets one that is closed, so that no sync adds it later.
 *
 * @returns the key as it is then
 */
export function closeForGood({ keyTable }: Target, { recordId, keyId, name }: KeyNames): Promise<KeyRecord> {
  return untilDone(async () => {
    const keyRecord = await keyTable.get(recordId);
    if (keyRecord?.revoked) return keyRecord;
    if (keyRecord) return keyTable.revise(keyRecord, revocation());
    const closed: NewRecord = {
      recordId,
      keyId,
      name,
      plan: 'free',
      ...plans.free.limits,
      createdAt: Date.now(),
      tokens: {},
      interimUntil: 0,
      ...unusedCounters,
      ...revocation(),
    };
    return (await keyTable.add(closed)) ? { ...closed, revision: 1 } : undefined;
  });
}

/** The record of a key that is there. @throws AdminError where it is revoked */
export async function readRecord({ keyTable }: Target, recordId: string): Promise<KeyRecord> {
  const keyRecord = await keyTable.get(recordId);
  if (!keyRecord)
    throw new AdminError('The key was removed from the keys table meanwhile. Run npm run admin -- keys sync');
  if (keyRecord.revoked) throw revokedError(keyRecord.keyId);
  return keyRecord;
}

/**
 * Waits until a change of a key has reached every execution environment: each remembers a key for up to a second.
 *
 * @param grace milliseconds for which the key works as before anyway
 */
export async function outlastMemory({ pause }: Pick<Target, 'pause'>, grace = 0): Promise<void> {
  await pause(Math.max(0, LEASE_MS + MARGIN_MS - grace));
}

/** Whether a key is refused until an admin resumes it. */
export const isSuspendedForGood = ({ suspendedUntil }: KeyRecord): boolean => suspendedUntil >= NEVER;

export const revokedError = (id: string): AdminError => new AdminError(`The key ${id} was revoked.`);

export function changedMeanwhile(id: string): AdminError {
  return new AdminError(
    `The key ${id} was changed by another command meanwhile. Look at it with npm run admin -- keys show ${id}, and run the command again.`,
  );
}

const busyError = (id: string, { by, since }: Mark): AdminError =>
  new AdminError(
    `Another command (${by}) is under way on the key ${id} since ${timeOf(since)}. ` +
      `Run this one again when it is done; if it was cut off, at ${endOfMark(since)}.`,
  );

const timeOf = (epochMs: number): string => time(new Date(epochMs).toISOString());

/** From when on a mark does not count any more: the first full minute, since the text has no seconds. */
const endOfMark = (since: number): string => timeOf(Math.ceil((since + UNDER_WAY_MS) / 60_000) * 60_000);

/** @param attempt gives undefined where another was faster */
async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (tries > 1) await sleep(Math.random() * 50 * tries);
  }
  throw new AdminError('The key is being changed by others all the time. Run the command again.');
}
