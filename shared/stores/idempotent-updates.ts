import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../contract/errors.ts';
import { logError } from '../log.ts';
import type { RememberedRequest, RequestStore } from './request-store.ts';
import type { StockStore, StockUpdate, UpdateOutcome } from './stock-store.ts';

/** Longer than a request takes, authorizer and all: whoever began a request and has not ended it by then is gone. */
const LOCK_MS = 30_000;

/** Tries to update an entry that others update at the same time. */
const MAX_ROUNDS = 30;
/** They wait ever longer before the next, by chance, up to this: those who collide would collide again. */
const LONGEST_PAUSE_MS = 150;

export interface IdempotentUpdate extends Omit<StockUpdate, 'token'> {
  /** Of the API key and its idempotency key together; unguessable. */
  readonly requestId: string;
  /** Of all that the request asks for. */
  readonly fingerprint: string;
}

/**
 * Updates that are carried out once, however often they are sent (IETF draft-ietf-httpapi-idempotency-key-header).
 *
 * A request is remembered with the revision of the stock entry that it is about to replace, and its update is
 * conditional on that revision. So a try that was cut off, and whose outcome nobody knows, cannot take effect once
 * another one went on: either the entry still has that revision, or the update shows in it, or others have replaced it.
 */
export class IdempotentUpdates {
  readonly #stock: StockStore;
  readonly #requests: RequestStore;

  constructor(stock: StockStore, requests: RequestStore) {
    this.#stock = stock;
    this.#requests = requests;
  }

  /**
   * Carries an update out, or tells what came of it before.
   *
   * @param now Unix milliseconds
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS or SERVICE_UNAVAILABLE
   */
  async once(update: IdempotentUpdate, now: number): Promise<UpdateOutcome> {
    const { requestId, fingerprint, petId } = update;
    const lockedUntil = now + LOCK_MS;
    const baseRevision = (await this.#stock.find(petId))?.revision;
    const earlier = await this.#requests.begin({ requestId, fingerprint, lockedUntil, baseRevision }, now);
    if (!earlier) return this.#carryOut(update, { baseRevision, lockedUntil });

    if (earlier.fingerprint !== fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    if (earlier.outcome) return earlier.outcome;
    if (earlier.lockedUntil > now || !(await this.#requests.takeOver(earlier, lockedUntil))) throw inProgress();
    return this.#carryOut(update, { baseRevision: earlier.baseRevision, lockedUntil, resumed: true });
  }

  async #carryOut(update: IdempotentUpdate, attempt: Attempt): Promise<UpdateOutcome> {
    const { requestId } = update;
    try {
      // Nothing is answered that is not kept: a later try could not tell it again once others update the entry.
      return await this.#requests.complete(requestId, await this.#apply(update, attempt));
    } catch (error) {
      // Best effort: without it the next try waits until the lock ends.
      await this.#requests.release(requestId, attempt.lockedUntil).catch(reportUnreleased);
      throw error;
    }
  }

  async #apply(
    update: IdempotentUpdate,
    { baseRevision, lockedUntil, resumed = false }: Attempt,
  ): Promise<UpdateOutcome> {
    const { requestId, petId, quantity, revisions } = update;
    const token = tokenOf(requestId);
    let base = baseRevision;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (base === undefined) return { kind: 'absent' };
      if (revisions && !revisions.includes(base)) return { kind: 'stale', revision: base };
      const outcome = await this.#stock.update({ petId, quantity, token, revisions: [base] });
      if (outcome.kind !== 'stale') return outcome;
      if (resumed || outcome.uncertain === true) return this.#overtaken(update, outcome.revision);
      if (!(await this.#requests.rebase(requestId, lockedUntil, outcome.revision))) throw inProgress();
      base = outcome.revision;
      await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 2 ** round));
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });
  }

  /**
   * An earlier try was cut off, and others have updated the entry since. Nobody can tell any more whether it had taken
   * effect before them; the store is the same either way. Repeating it now would undo what they did.
   */
  async #overtaken({ petId, quantity, revisions }: IdempotentUpdate, revision: number): Promise<UpdateOutcome> {
    if (revisions) return { kind: 'stale', revision };
    const found = await this.#stock.find(petId);
    return found ? { kind: 'updated', entry: { ...found.entry, quantity } } : { kind: 'absent' };
  }
}

interface Attempt extends Pick<RememberedRequest, 'baseRevision' | 'lockedUntil'> {
  /** Whether an earlier try was cut off. */
  readonly resumed?: boolean;
}

/** 8 bytes of it: the stock entry carries the token along. */
const tokenOf = (requestId: string): string => Buffer.from(requestId.slice(0, 16), 'hex').toString('base64url');

const inProgress = (): ServiceError => new ServiceError('REQUEST_IN_PROGRESS', { headers: { 'Retry-After': '1' } });

function reportUnreleased(error: unknown): void {
  logError('A request with an Idempotency-Key stays locked for some seconds', error);
}
