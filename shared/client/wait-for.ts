/**
 * Waits for something to happen.
 *
 * @param begin is told what to call when it has happened, later; returns what ends the waiting early
 * @throws the reason of the signal, where that aborts first
 */
export async function waitFor(signal: AbortSignal, begin: (happened: () => void) => () => void): Promise<void> {
  signal.throwIfAborted();
  let abort: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = begin(resolve);
      abort = () => {
        cancel();
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort);
    });
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
  }
}
