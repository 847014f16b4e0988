/** Why a LevelDB store cannot be used, in words for whoever started the host. */
export function reasonOfLevelFailure(error: unknown): string {
  const failure = isFailure(error) && isFailure(error.cause) ? error.cause : error;
  if (!isFailure(failure)) return String(failure);
  return failure.code === 'LEVEL_LOCKED' ? 'another host is running on it' : failure.message;
}

interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** By its shape: the errors of a native module may be of another realm, and no instances of `Error` here. */
function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';
}
