import { NodeHttpHandler } from '@smithy/node-http-handler';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { isUnreachable } from '../../../shared/dynamodb.ts';
import { NotAppliedError } from '../../../shared/key-registry/update-gateway.ts';
import { UnreadableRecordError } from '../../../shared/keys/key-record.ts';
import { failureText as failureTextOf, reasonOf, UnreachableError } from '../../failures.ts';

export { AdminError, awsReason, reasonOf, UnreachableError } from '../../failures.ts';

/** Sends the calls of the AWS SDK, and fails immediately if it cannot connect: the SDK would retry for minutes. */
export class FailFastHandler extends NodeHttpHandler {
  readonly #sentence: (reason: string) => string;

  /** @param sentence for the admin if no connection is made */
  constructor(sentence: (reason: string) => string) {
    super({ connectionTimeout: 5_000, requestTimeout: 30_000, throwOnRequestTimeout: true });
    this.#sentence = sentence;
  }

  override async handle(...call: Parameters<NodeHttpHandler['handle']>): ReturnType<NodeHttpHandler['handle']> {
    try {
      return await super.handle(...call);
    } catch (cause) {
      const reason = reasonOf(cause);
      // A response timeout is a TimeoutError too, but the call may have been executed.
      if (!isUnreachable(cause) && !reason.includes('did not establish a connection')) throw cause;
      // Without the cause, which would make the SDK retry the call.
      throw new UnreachableError(this.#sentence(reason));
    }
  }
}

/** As {@link failureTextOf}, also for errors of the code that commands and functions share. */
export function failureText(error: unknown, ...rest: [retry: string, retryEffect?: string]): string | undefined {
  const isSentence =
    error instanceof UnreadableRecordError || error instanceof NotAppliedError || error instanceof ServiceError;
  return isSentence ? error.message : failureTextOf(error, ...rest);
}
