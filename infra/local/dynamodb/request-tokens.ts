import { ApiError } from './api-error.ts';

/** How long DynamoDB remembers a ClientRequestToken. */
const REMEMBERED_MS = 600_000;

interface Carried<Outcome> {
  readonly fingerprint: string;
  readonly outcome: Outcome;
  readonly at: number;
}

/**
 * The requests with a ClientRequestToken that were carried out in the last ten minutes. A host that is killed forgets
 * them: whoever could have repeated one was killed with it.
 */
export class RequestTokens<Outcome> {
  readonly #carried = new Map<string, Carried<Outcome>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * What became of the same request before; undefined where it is new.
   *
   * @throws ApiError where the token was another request's
   */
  outcomeOf(token: string, fingerprint: string): Outcome | undefined {
    this.#forgetOld();
    const carried = this.#carried.get(token);
    if (carried && carried.fingerprint !== fingerprint) {
      throw new ApiError('IdempotentParameterMismatchException', 'The token was used for another request');
    }
    return carried?.outcome;
  }

  remember(token: string, fingerprint: string, outcome: Outcome): void {
    this.#carried.set(token, { fingerprint, outcome, at: this.#now() });
  }

  /** A map keeps the order in which tokens came. */
  #forgetOld(): void {
    for (const [token, { at }] of this.#carried) {
      if (this.#now() - at < REMEMBERED_MS) return;
      this.#carried.delete(token);
    }
  }
}
