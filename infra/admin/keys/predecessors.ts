import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { warn } from '../output.ts';
import type { Target } from '../target.ts';

/** The keys that were rotated to this one, directly or by way of others. */
export async function predecessorsOf(target: Target, key: Pick<KeyRecord, 'keyHash'>): Promise<KeyRecord[]> {
  return (await generationsBefore(target, key)).flat();
}

/**
 * The keys that were rotated to this one, then those that were rotated to them, and so on.
 *
 * @param counts which keys are followed
 */
export async function generationsBefore(
  { keyTable }: Target,
  { keyHash }: Pick<KeyRecord, 'keyHash'>,
  counts: (key: KeyRecord) => boolean = () => true,
): Promise<KeyRecord[][]> {
  const rotated: KeyRecord[] = [];
  for await (const page of keyTable.pages(warn)) {
    rotated.push(...page.filter((key) => key.replacedBy !== undefined && counts(key)));
  }
  const generations: KeyRecord[][] = [];
  const found = new Set<KeyRecord>();
  for (let successors = new Set([keyHash]); successors.size > 0;) {
    const earlier = rotated.filter((key) => successors.has(key.replacedBy ?? '') && !found.has(key));
    for (const key of earlier) found.add(key);
    if (earlier.length > 0) generations.push(earlier);
    successors = new Set(earlier.map((key) => key.keyHash));
  }
  return generations;
}
