import { HostError } from '../host-error.ts';

const unitsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The longest time that a timer of Node can wait. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * The period of a schedule expression such as `rate(5 minutes)`, in milliseconds.
 *
 * @param place the resource it belongs to, for the error
 * @throws HostError on any other expression, `cron(…)` included
 */
export function periodOf(expression: string, place: string): number {
  const [, count = '', unit = '', plural] = /^rate\((\d+) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const isUnit = (name: string): name is keyof typeof unitsMs => name in unitsMs;
  // EventBridge wants the singular for one, and the plural for more.
  if (!isUnit(unit) || Number(count) < 1 || (Number(count) === 1) !== (plural === '')) {
    throw new HostError(
      `${place}: the local host does not support property ScheduleExpression (expected rate(…), got ${expression})`,
    );
  }
  return Number(count) * unitsMs[unit];
}

/** Calls back once a period, for the first time one period after its start, as EventBridge does. */
export class Schedule {
  readonly #periodMs: number;
  readonly #fire: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(periodMs: number, fire: () => void) {
    this.#periodMs = periodMs;
    this.#fire = fire;
  }

  start(): void {
    this.#wait(performance.now() + this.#periodMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(dueAt: number): void {
    const delay = Math.min(MAX_TIMER_MS, Math.max(0, dueAt - performance.now()));
    this.#timer = setTimeout(() => {
      if (performance.now() < dueAt) return this.#wait(dueAt);
      this.#fire();
      // A laptop that was asleep makes up for nothing.
      const missed = Math.floor((performance.now() - dueAt) / this.#periodMs);
      this.#wait(dueAt + (missed + 1) * this.#periodMs);
    }, delay);
  }
}
