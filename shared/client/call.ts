import ky from 'ky';
import type { Answer } from './answer.ts';
import { ApiError } from './api-error.ts';
import { Attempt, type RepeatableRequest } from './attempt.ts';
import type { ClientSettings } from './client-options.ts';
import { ConnectionError } from './connection-error.ts';
import { parseExactJson } from './exact-json.ts';
import { type Limits, readLimits } from './limits.ts';
import { Patience } from './patience.ts';
import type { RequestGate } from './request-gate.ts';
import { mayRepeat, pauseAfter } from './retry-policy.ts';

/** What the calls of a client have in common. */
export interface CallContext {
  readonly settings: ClientSettings;
  readonly gate: RequestGate;
  /** Is told what every answer says about the limits. */
  readonly onLimits: (limits: Limits) => void;
}

/** A good answer. */
interface Answered {
  readonly attempt: Attempt;
  /** Its body is still to be read where the call streams. */
  readonly response: Response;
  /** Empty where the call streams. */
  readonly text: string;
  readonly limits: Limits | undefined;
}

/** One call of an operation: its tries, and the pauses between them. */
export class Call {
  readonly #context: CallContext;
  readonly #patience: Patience;
  readonly #streams: boolean;
  #attempts = 0;
  #answered: Answered | undefined;

  /** @param streams whether a good answer is left to be read piece by piece, and not repeated when it breaks off */
  constructor(context: CallContext, { streams = false }: { streams?: boolean } = {}) {
    this.#context = context;
    this.#patience = new Patience(context.settings.maxWait);
    this.#streams = streams;
  }

  /** The good answer. @throws Error before there is one */
  get answered(): Answered {
    if (!this.#answered) throw new Error('There is no answer yet');
    return this.#answered;
  }

  /**
   * Sends the request until it has a good answer, which is then in {@link answered}, or cannot have one.
   *
   * @throws ApiError or ConnectionError of the last try; the reason of the request's signal, where that aborts
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { url, method, headers, signal } = request;
    const body = method === 'GET' ? null : await request.text();
    let pause = 0;
    await ky(url, {
      method,
      signal,
      fetch: () => this.#try({ url, method, headers, body, signal }),
      timeout: false,
      throwHttpErrors: false,
      retry: {
        limit: this.#context.settings.maxRetries,
        methods: ['get', 'patch'],
        shouldRetry: ({ error }) => {
          const next = this.#pauseAfter(error);
          pause = next ?? 0;
          return next !== undefined;
        },
        delay: () => pause,
      },
    });
    return new Response();
  };

  /** The answer as an object of the interface. @throws ConnectionError where it is something else */
  parse<T>(isPromised: (value: unknown) => value is T): T {
    return this.parseText(this.answered.text, isPromised);
  }

  /** A part of the answer, as {@link parse}. */
  parseText<T>(text: string, isPromised: (value: unknown) => value is T): T {
    const { attempt } = this.answered;
    const value = attempt.understood(() => parseExactJson(text));
    if (isPromised(value)) return value;
    throw attempt.error('unreadable', 'is not what the interface promises');
  }

  /** What the call has brought. */
  answer<T>(data: T): Answer<T> {
    const { limits } = this.answered;
    return { data, limits, requestId: this.header('x-amzn-RequestId') };
  }

  /** A header of the answer. */
  header(name: string): string | undefined {
    return this.answered.response.headers.get(name) ?? undefined;
  }

  /** Milliseconds until the next try; undefined where there is none. */
  #pauseAfter(error: Error): number | undefined {
    const { retryDelay, onRetry } = this.#context.settings;
    if (!mayRepeat(error)) return undefined;
    const pause = pauseAfter(error, this.#attempts, retryDelay);
    if (!this.#patience.spend(pause)) return undefined;
    onRetry({ error, attempt: this.#attempts + 1, pause });
    return pause;
  }

  async #try(request: RepeatableRequest): Promise<Response> {
    const { settings, gate } = this.#context;
    await gate.enter({ patience: this.#patience, signal: request.signal, attempts: this.#attempts });
    try {
      this.#attempts += 1;
      this.#answered = await this.#send(new Attempt(request, { ...settings, number: this.#attempts }));
      return this.#answered.response;
    } finally {
      gate.leave();
    }
  }

  async #send(attempt: Attempt): Promise<Answered> {
    const { gate, onLimits } = this.#context;
    const response = await attempt.send();
    const { status, headers } = response;
    const limits = readLimits(headers);
    gate.note(limits);
    if (limits) onLimits(limits);
    if (status === 200) {
      const text = this.#streams ? '' : await attempt.readText(response);
      return { attempt, response, text, limits };
    }
    const text = await attempt.readText(response).catch(emptyIfBroken);
    const error = ApiError.of({ status, headers, text, limits }, this.#attempts);
    if (status === 429) gate.close(error);
    throw error;
  }
}

/** The status of an error counts even where its body does not arrive. */
function emptyIfBroken(error: unknown): string {
  if (error instanceof ConnectionError) return '';
  throw error;
}
