import { NodeHttpHandler } from '@smithy/node-http-handler';
import { isUnreachable } from '../../../shared/dynamodb.ts';
import { reasonOf, UnreachableError } from './failures.ts';

/** Connection timeout, in seconds. */
const CONNECT_SECONDS = 5;
const MAX_RESPONSE_MS = 30_000;

type Handle = NodeHttpHandler['handle'];

/** Sends the calls of the AWS SDK, and fails immediately if it cannot connect: the SDK would retry for minutes. */
export class FailFastHandler extends NodeHttpHandler {
  readonly #sentence: (reason: string) => string;

  /** @param sentence for the admin if no connection is made */
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
      // A response timeout is a TimeoutError too, but the call may have been executed.
      const isTooSlow = reason.includes('did not establish a connection');
      if (!isTooSlow && !isUnreachable(cause)) throw cause;
      const words = isTooSlow ? `no connection within ${CONNECT_SECONDS} seconds` : reason;
      // Without the cause, which would make the SDK retry the call.
      throw new UnreachableError(this.#sentence(words));
    }
  }
}
