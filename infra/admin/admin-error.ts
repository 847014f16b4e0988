import { isNetworkError } from '../../shared/dynamodb.ts';

/** A reason why a command cannot do its work, in words that say what to do. Shown without a stack trace. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}

/** The words of any failure, in one line and without a full stop, for a sentence that begins before it. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const words = error instanceof Error ? error.message || error.name : String(error);
  return words.replace(SDK_HINT, '').replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/** What the SDK tells its programmers about an answer that it could not read. */
const SDK_HINT = /\s*Deserialization error: to see the raw response.*$/s;

/** In one line why AWS, or the way to it, failed; undefined for any other failure. */
export function awsReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const isAws = '$metadata' in error || 'tryNextLink' in error || error.name === 'TimeoutError';
  if (!isNetworkError(error) && !isAws) return undefined;
  return `AWS could not be used: ${reasonOf(error)} (${error.name})`;
}
