import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';

/** The keys that were rotated to this one, directly or by way of others. */
export async function predecessorsOf({ keyTable }: Target, { keyHash }: KeyRecord): Promise<KeyRecord[]> {
  const rotated: KeyRecord[] = [];
  for await (const page of keyTable.pages()) rotated.push(...page.filter(({ replacedBy }) => replacedBy !== undefined));
  const found = new Set<KeyRecord>();
  let successors = new Set([keyHash]);
  while (successors.size > 0) {
    const earlier = rotated.filter((key) => successors.has(key.replacedBy ?? '') && !found.has(key));
    for (const key of earlier) found.add(key);
    successors = new Set(earlier.map((key) => key.keyHash));
  }
  return [...found];
}
