/** Max items at work at the same time. */
const BATCH = 10;

/** Works on all items. After a failure, awaits those at work and starts no more: a function must not write after it. */
export async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let begun = 0; begun < items.length; begun += BATCH) {
    const runs = items.slice(begun, begun + BATCH).map(work);
    await Promise.allSettled(runs);
    await Promise.all(runs);
  }
}
