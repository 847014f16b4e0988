import { messageOf } from '../shared/log.ts';

/** Control characters, line and column separators, and bidirectional overrides. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Escapes invisible characters of untrusted text, such as a name, as JSON does: `\u001b`. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Like {@link visible}, but keeps line breaks. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** A failure that the admin can act on: the message states the cause and the remedy. Printed without a stack trace. */
export class AdminError extends Error {
  override readonly name = 'AdminError';

  /** @param lines of the message; may contain untrusted text, such as names and cells */
  constructor(...lines: readonly string[]) {
    super(lines.map(visible).join('\n'));
  }
}

/** No service responds at the address. The message is the complete sentence for the admin. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** As in the SDK's errors of refused calls: nothing was applied, and a retry would fail too. */
  readonly $fault = 'client';
}

/** The message of any failure, in one line and without a full stop, to end a sentence. */
export function reasonOf(error: unknown): string {
  // The SDK adds a hint to the error of an unreadable response.
  const [words = ''] = messageOf(error).split('Deserialization error: to see the raw response', 1);
  return visible(words.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, ''));
}

/** Whether a failure has a code of the operating system; Node's own, which begin with ERR_, are bugs. */
const isNetworkError = (error: Error): boolean => 'code' in error && /^E(?!RR_)[A-Z]/.test(String(error.code));

/** One line about a failure of AWS or of the connection to it; undefined for any other failure. */
export function awsReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof UnreachableError) return reasonOf(error);
  const isAws = '$metadata' in error || 'tryNextLink' in error || error.name === 'TimeoutError';
  if (!isNetworkError(error) && !isAws) return undefined;
  return `The call to AWS failed: ${reasonOf(error)} (${error.name})`;
}

/** Remedies, by the name of the error. */
const remedies: readonly (readonly [name: RegExp, remedy: string])[] = [
  [
    /^(Expired|InvalidClientTokenId|UnrecognizedClient|Credentials|TokenRefreshRequired)/,
    'Renew the AWS credentials, and run the command again.',
  ],
  [
    /^(AccessDenied|Unauthorized)/,
    'The AWS credentials lack this permission: ask the administrator of the account for it.',
  ],
  [/^(TooManyRequests|Throttling|ProvisionedThroughput|RequestLimit)/, 'AWS throttles the calls: wait a minute.'],
];

/**
 * Message of a failure that an admin can act on; undefined for a bug.
 *
 * @param retry the action that is safe to repeat, as an infinitive @param retryEffect the effect of that
 */
export function failureText(
  error: unknown,
  retry: string,
  retryEffect = 'it completes the interrupted work',
): string | undefined {
  if (error instanceof AdminError || error instanceof UnreachableError) return error.message;
  const reason = awsReason(error);
  if (reason === undefined) return undefined;
  const remedy = remedies.find(([name]) => error instanceof Error && name.test(error.name))?.[1];
  return `${reason}. ${remedy === undefined ? '' : `${remedy} `}It is safe to ${retry}: ${retryEffect}.`;
}
