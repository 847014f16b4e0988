import { NodeHttpHandler } from '@smithy/node-http-handler';
import { isUnreachable } from '../../shared/dynamodb.ts';
import { reasonOf, UnreachableError } from './admin-error.ts';

/** How long a connection may take to come about, in seconds. */
const CONNECT_SECONDS = 5;
const MAX_RESPONSE_MS = 30_000;

type Handle = NodeHttpHandler['handle'];

/** Sends the calls of the AWS SDK. Where nothing answers it fails at once: the SDK would retry for minutes. */
export class FailFastHandler extends NodeHttpHandler {
  readonly #sentence: (reason: string) => string;

  /** @param sentence for an admin, where nothing answers */
  constructor(sentence: (reason: string) => string) {
    const timeouts = { connectionTimeout: CONNECT_SECONDS * 1_000, requestTimeout: MAX_RESPONSE_MS };
    super({ ...timeouts, throwOnRequestTimeout: true });
    this.#sentence = sentence;
  }

  override async handle(...call: Parameters<Handle>): ReturnType<Handle> {
    try {
      return await super.handle(...call);
    } catch (cause) {
      const reason = reasonOf(cause);
      // An answer that takes too long is a TimeoutError too, and the call may have been carried out.
      const isTooSlow = reason.includes('did not establish a connection');
      if (!isTooSlow && !isUnreachable(cause)) throw cause;
      const words = isTooSlow ? `no connection within ${CONNECT_SECONDS} seconds` : reason;
      // Without the cause: the SDK would go by that, and repeat the call.
      throw new UnreachableError(this.#sentence(words));
    }
  }
}
