import type { OnProgress } from '../records/record-kinds.ts';
import { PRIVATE, writeWhole } from '../records/write-whole.ts';
import type { Target } from '../target.ts';
import { number } from '../text-format.ts';
import { KeySection, type LeftOut } from './key-section.ts';
import { recordSections } from './sections.ts';
import { type Counts, noCounts, serviceText } from './service-file.ts';

export interface Export {
  readonly exported: Readonly<Counts>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Writes stock, pets, orders and keys to a file for its owner alone, which appears, or is replaced, only when it is
 * complete. It is no snapshot: what is changed meanwhile may be in it or not.
 *
 * @throws AdminError where the file cannot be written or the service cannot be read
 */
export async function exportAll(file: string, target: Target, onProgress: OnProgress): Promise<Export> {
  const keys = new KeySection(target);
  const sections = [...recordSections(target), keys];
  const exported = noCounts(sections);
  const total = (): number => Object.values(exported).reduce((sum, count) => sum + count, 0);
  const text = serviceText(sections, exported, () => onProgress(total(), total()));
  await writeWhole(file, text, () => `${number(total())} records`, PRIVATE);
  return { exported, leftOut: keys.leftOut };
}
