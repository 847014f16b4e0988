import { setTimeout as sleep } from 'node:timers/promises';

/** The first one included. */
const MAX_TRIES = 4;
/** No try begins later: the function has 15 seconds, and a try takes up to six, for a read and a write. */
const LAST_TRY_AFTER_MS = 5_000;
/** Before the second try; it doubles with each further one. */
const LONGEST_FIRST_PAUSE_MS = 50;

/**
 * Makes an attempt again while it fails in a way that `mayRepeat` says. Pauses are random, or those who collide would
 * collide again.
 *
 * @throws the last failure
 */
export async function tryAgain<Result>(
  attempt: () => Promise<Result>,
  mayRepeat: (error: unknown) => boolean,
): Promise<Result> {
  const begun = Date.now();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayRepeat(error) || tries === MAX_TRIES || Date.now() - begun > LAST_TRY_AFTER_MS) throw error;
    }
    await sleep(Math.random() * LONGEST_FIRST_PAUSE_MS * 2 ** (tries - 1));
  }
}
