import { ApiError } from './api-error.ts';

/** How long DynamoDB remembers a ClientRequestToken. */
const REMEMBERED_MS = 600_000;

interface Carried {
  readonly fingerprint: string;
  /** The body of its answer. */
  readonly answer: object;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * The requests with a ClientRequestToken that were carried out in the last ten minutes. A host that is killed forgets
 * them: whoever could have repeated one was killed with it.
 */
export class RequestTokens {
  readonly #carried = new Map<string, Carried>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * The answer to the same request before; undefined where it is new.
   *
   * @throws ApiError where the token was another request's
   */
  answerTo(token: string, fingerprint: string): object | undefined {
    this.#forgetOld();
    const carried = this.#carried.get(token);
    if (carried && carried.fingerprint !== fingerprint) {
      throw new ApiError('IdempotentParameterMismatchException', 'The token was used for another request');
    }
    return carried?.answer;
  }

  remember(token: string, fingerprint: string, answer: object): void {
    this.#carried.set(token, { fingerprint, answer, at: this.#now() });
  }

  /** A map keeps the order in which tokens came. */
  #forgetOld(): void {
    for (const [token, { at }] of this.#carried) {
      if (this.#now() - at < REMEMBERED_MS) return;
      this.#carried.delete(token);
    }
  }
}
