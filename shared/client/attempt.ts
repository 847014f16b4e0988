import { ConnectionError, type ConnectionFailure } from './connection-error.ts';
import { SilenceTimer } from './silence-timer.ts';

/** The longest answer that is read whole, in bytes: many times what a pet or a page of 1,000 entries can have. */
const MAX_BYTES = 33_554_432;

/** A request that can be sent again and again. */
export interface RepeatableRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** Text, which a platform sends in one go with the headers; null for none. */
  readonly body: string | null;
  readonly signal: AbortSignal;
}

interface AttemptParts {
  readonly fetch: typeof fetch;
  /** Milliseconds of silence. */
  readonly timeout: number;
  /** Which try of the call it is: 1 for the first. */
  readonly number: number;
}

/** One try of a call: one request and its answer. */
export class Attempt {
  readonly #request: RepeatableRequest;
  readonly #parts: AttemptParts;
  readonly #silence: SilenceTimer;

  constructor(request: RepeatableRequest, parts: AttemptParts) {
    this.#request = request;
    this.#parts = parts;
    this.#silence = new SilenceTimer(parts.timeout);
  }

  /**
   * Sends the request and waits for the head of the answer.
   *
   * @throws ConnectionError where none comes; the reason of the request's signal, where that aborts
   */
  async send(): Promise<Response> {
    const { url, method, headers, body } = this.#request;
    const signal = AbortSignal.any([this.#request.signal, this.#silence.signal]);
    // The service does not redirect, and the key must not get to another address.
    const init: RequestInit = { method, headers, body, signal, redirect: 'manual' };
    try {
      return await this.#silence.during(() => this.#parts.fetch(url, init));
    } catch (error) {
      throw this.#failure('network', error);
    }
  }

  /** The bytes of the answer as they come. @throws ConnectionError where they stop; as {@link send} */
  async *read({ body }: Response): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body?.getReader();
    if (!reader) return;
    try {
      for (;;) {
        const { done, value } = await this.#silence.during(() => reader.read());
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw this.#failure('broken-off', error);
    } finally {
      // Where all is read this does nothing; where not, the connection ends.
      reader.cancel().catch(() => undefined);
    }
  }

  /** The whole text of the answer. @throws ConnectionError as {@link read} */
  async readText(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for await (const chunk of this.read(response)) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) throw this.error('unreadable', 'is too long');
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }

  /** What is read from the answer. @throws ConnectionError where that fails */
  understood<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.error('unreadable', 'cannot be read', error);
    }
  }

  /** @param what is wrong, in words that follow on "The answer to GET https://… " */
  error(reason: ConnectionFailure, what: string, cause?: unknown): ConnectionError {
    return new ConnectionError(reason, `The answer to ${this.#name} ${what}`, { attempts: this.#parts.number, cause });
  }

  #failure(reason: ConnectionFailure, error: unknown): unknown {
    const { signal } = this.#request;
    if (signal.aborted) return signal.reason;
    const attempts = this.#parts.number;
    if (this.#silence.isOver) {
      const message = `Nothing was heard of ${this.#name} for ${this.#parts.timeout} ms`;
      return new ConnectionError('timeout', message, { attempts });
    }
    if (reason === 'broken-off') return this.error(reason, `broke off: ${wordsOf(error)}`, error);
    return new ConnectionError(reason, `There was no answer to ${this.#name}: ${wordsOf(error)}`, {
      attempts,
      cause: error,
    });
  }

  get #name(): string {
    const { origin, pathname } = new URL(this.#request.url);
    return `${this.#request.method} ${origin}${pathname}`;
  }
}

/** What the platform says about a connection that failed; Node.js says it in the cause. */
function wordsOf(error: unknown): string {
  const cause = property(error, 'cause');
  const words = [property(error, 'message'), property(cause, 'message') || property(cause, 'code')];
  return words.filter((word) => typeof word === 'string' && word !== '').join(': ') || String(error);
}

/** Not by `instanceof`: an error may come from another realm, such as a frame. */
function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
