/**
 * Waits for something to happen. The signal should not outlive the call: its listener stays.
 *
 * @param begin is told what to call when it has happened; returns what ends the waiting early
 * @throws the reason of the signal, where that aborts first
 */
export const waitFor = (signal: AbortSignal, begin: (happened: () => void) => () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = begin(resolve);
    signal.addEventListener('abort', () => {
      cancel();
      reject(signal.reason);
    });
  });

export const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  waitFor(signal, (over) => {
    const timer = setTimeout(over, milliseconds);
    return () => clearTimeout(timer);
  });
