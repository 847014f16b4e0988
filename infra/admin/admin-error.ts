import { ServiceError } from '../../shared/contract/errors.ts';
import { isNetworkError } from '../../shared/dynamodb.ts';
import { NotAppliedError } from '../../shared/key-registry/apply.ts';
import { UnreadableRecordError } from '../../shared/keys/key-record.ts';
import { messageOf } from '../../shared/log.ts';
import { visible } from './text-format.ts';

/** A reason why a command cannot do its work, in words that say what to do. Shown without a stack trace. */
export class AdminError extends Error {
  override readonly name = 'AdminError';

  /** @param lines may have names, cells and other text of others in them */
  constructor(...lines: readonly string[]) {
    super(lines.map(visible).join('\n'));
  }
}

/** Nothing answers where the service should be. Its message is the whole sentence for the admin. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** The words of any failure, in one line and without a full stop, for a sentence that begins before it. */
export function reasonOf(error: unknown): string {
  const words = messageOf(error);
  return visible((words.split(SDK_HINT, 1)[0] ?? '').replaceAll(/\s+/g, ' ').trim().replace(/\.$/, ''));
}

/** The SDK's hint for programmers, about a response that it could not read. */
const SDK_HINT = 'Deserialization error: to see the raw response';

/** In one line why AWS, or the way to it, failed; undefined for any other failure. */
export function awsReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof UnreachableError) return reasonOf(error);
  const isAws = '$metadata' in error || 'tryNextLink' in error || error.name === 'TimeoutError';
  if (!isNetworkError(error) && !isAws) return undefined;
  return `AWS could not be used: ${reasonOf(error)} (${error.name})`;
}

/** What to do about it, by the name of the error. */
const remedies: readonly (readonly [name: RegExp, remedy: string])[] = [
  [
    /^(Expired|InvalidClientTokenId|UnrecognizedClient|Credentials|TokenRefreshRequired)/,
    'Renew the AWS credentials, and start the command again.',
  ],
  [
    /^(AccessDenied|Unauthorized)/,
    'The AWS credentials lack this permission: ask the administrator of the account for it.',
  ],
  [
    /^(TooManyRequests|Throttling|ProvisionedThroughput|RequestLimit)/,
    'AWS takes no more calls for now: wait a minute.',
  ],
];

/**
 * Any failure that an admin can do something about, in words that say what; undefined for a fault of the program.
 *
 * @param again what is safe to do again
 * @param effect of doing it again
 */
export function failureText(
  error: unknown,
  retryEffect: string,
  effect = 'it takes up what was cut off',
): string | undefined {
  const isSentence = [AdminError, UnreachableError, UnreadableRecordError, NotAppliedError, ServiceError].some(
    (kind) => error instanceof kind,
  );
  if (isSentence && error instanceof Error) return error.message;
  const reason = awsReason(error);
  if (reason === undefined) return undefined;
  const remedy = remedies.find(([name]) => error instanceof Error && name.test(error.name))?.[1];
  return `${reason}. ${remedy === undefined ? '' : `${remedy} `}It is safe to ${retryEffect}: ${effect}.`;
}
