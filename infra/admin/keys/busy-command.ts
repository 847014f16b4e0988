import { randomBytes } from 'node:crypto';
import { UNDER_WAY_MS } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import { isBusy } from '../../../shared/key-registry/mirror.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError, awsReason, isAnswer } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { time } from '../text-format.ts';
import { changedMeanwhile, changeRecord } from './change-record.ts';

/** A command with several steps gives up when it takes longer, in milliseconds: its mark counts for twice as long. */
const LONGEST_COMMAND_MS = 5 * 60_000;

type Mark = NonNullable<KeyRecord['busy']>;

/**
 * A command of several steps on one key. Its mark in the record keeps other such commands away, and syncs from anything
 * but closing. Each of its writes goes by the mark, and its last removes it.
 */
export class BusyCommand {
  /** Whether the key is between two states. A failure then leaves the mark, which counts until it is ten minutes old. */
  isBetweenStates = false;
  readonly #target: Target;
  readonly #recordId: string;
  readonly #mark: Mark;

  private constructor(target: Target, recordId: string, mark: Mark) {
    this.#target = target;
    this.#recordId = recordId;
    this.#mark = mark;
  }

  /**
   * Runs a command under its mark. A failure removes the mark, unless the key is between two states, or a call that had
   * no answer may still arrive.
   *
   * @param change with the first write
   * @throws AdminError where another command is under way on the key, or the key was revoked
   */
  static async run(
    target: Target,
    { recordId }: KeyRecord,
    by: string,
    work: (command: BusyCommand) => Promise<KeyRecord>,
    change: KeyChange = {},
  ): Promise<KeyRecord> {
    const mark: Mark = { by, since: Date.now(), id: randomBytes(3).toString('base64url') };
    await changeRecord(target, recordId, (now) => {
      checkNotBusy(now);
      return { ...change, busy: mark };
    });
    const command = new BusyCommand(target, recordId, mark);
    try {
      return await work(command);
    } catch (error) {
      if (command.isBetweenStates || !(error instanceof AdminError || isAnswer(error)))
        throw interrupted(error, mark.since);
      await command.#removeMark();
      throw error;
    }
  }

  /** Makes a call to API Gateway. @throws AdminError once the command has taken too long */
  async call(make: () => Promise<void>): Promise<void> {
    if (Date.now() - this.#mark.since > LONGEST_COMMAND_MS)
      throw new AdminError('The command took too long, and was given up. Run it again.');
    await make();
  }

  /** The last write. @throws AdminError where the mark is another's by now, or was removed by what closes the key */
  end(change: (record: KeyRecord) => KeyChange): Promise<KeyRecord> {
    return changeRecord(this.#target, this.#recordId, (record) => {
      if (record.busy?.id !== this.#mark.id) throw changedMeanwhile(record.keyId);
      return { ...change(record), busy: undefined };
    });
  }

  /** Removes the mark, if it is still there. @throws AdminError where the key was revoked: that is what the admin must hear */
  async #removeMark(): Promise<void> {
    try {
      await changeRecord(this.#target, this.#recordId, ({ busy }) => ({
        busy: busy?.id === this.#mark.id ? undefined : busy,
      }));
    } catch (error) {
      // The admin hears of the failure that came first.
      if (error instanceof AdminError) throw error;
    }
  }
}

/** @returns the error, with the time from which on the command can be run again */
function interrupted(error: unknown, since: number): unknown {
  const fault = awsReason(error);
  const reason = error instanceof AdminError ? error.message.replace(/\.$/, '') : fault;
  if (reason === undefined) return error;
  const why = fault === undefined ? 'The key may be between two states' : 'What was sent may still arrive';
  return new AdminError(`${reason}. ${why}: run the same command again at ${endOfMark(since)}.`);
}

/** @throws AdminError where a command of several steps is under way on a key */
export function checkNotBusy(record: KeyRecord): void {
  const { keyId, busy } = record;
  if (!busy || !isBusy(record)) return;
  throw new AdminError(
    `Another command (${busy.by}) is under way on the key ${keyId} since ${timeOf(busy.since)}. ` +
      `Run this one again when it is done; if it was cut off, at ${endOfMark(busy.since)}.`,
  );
}

const timeOf = (epochMs: number): string => time(new Date(epochMs).toISOString());

/** From when on a mark does not count any more: the first full minute, since the text has no seconds. */
const endOfMark = (since: number): string => timeOf(Math.ceil((since + UNDER_WAY_MS) / 60_000) * 60_000);
