import { HostClock } from './host-clock.ts';

/** Runs something while the clock of the hosts stands where it is moved to, and lets time pass again. */
export async function withHostClock<Result>(run: (clock: HostClock) => Promise<Result>): Promise<Result> {
  const clock = new HostClock();
  try {
    return await run(clock);
  } finally {
    clock.release();
  }
}
