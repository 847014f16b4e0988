/** What one item can be written in a second, and no more: a bucket that fills as time goes by, and holds a tenth of it. */
export class WriteCeiling {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Takes write units of an item, if there are so many. */
  allows(item: string, now: number, units: number): boolean {
    if (this.#perSecond === Infinity) return true;
    const most = this.#perSecond / 10;
    const bucket = this.#buckets.get(item) ?? { left: most, at: now };
    const left = Math.min(most, bucket.left + ((now - bucket.at) * this.#perSecond) / 1_000);
    const isAllowed = left >= units;
    this.#buckets.set(item, { left: isAllowed ? left - units : left, at: now });
    return isAllowed;
  }
}
