/** A metric as CloudWatch knows it: the same name with other dimensions is another metric. */
export interface MetricIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** One value of a metric. */
export interface Sample extends MetricIdentity {
  /** Unix milliseconds. */
  readonly at: number;
  readonly value: number;
}

interface Values {
  readonly times: number[];
  readonly values: number[];
}

const none: Values = { times: [], values: [] };

/** The samples of all metrics, as exact as they were taken. */
export class MetricStore {
  readonly #metrics = new Map<string, Values>();

  constructor(samples: Iterable<Sample>) {
    for (const sample of [...samples].toSorted((one, other) => one.at - other.at)) {
      const key = keyOf(sample);
      const { times, values } = this.#metrics.get(key) ?? { times: [], values: [] };
      if (times.length === 0) this.#metrics.set(key, { times, values });
      times.push(sample.at);
      values.push(sample.value);
    }
  }

  /** The values of a metric from one time until before another, both in Unix milliseconds. */
  between(metric: MetricIdentity, from: number, until: number): readonly number[] {
    const { times, values } = this.#metrics.get(keyOf(metric)) ?? none;
    return values.slice(firstFrom(times, from), firstFrom(times, until));
  }
}

function keyOf({ namespace, name, dimensions }: MetricIdentity): string {
  const sorted = Object.entries(dimensions).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([namespace, name, sorted]);
}

/** The index of the first time that is not before another. */
function firstFrom(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
