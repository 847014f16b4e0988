import type { PlanId } from '../../../shared/keys/plans.ts';
import { warn } from '../output.ts';
import type { Target } from '../target.ts';
import { type KeyView, keyView } from './key-view.ts';

/** All keys, or those of one plan, by name. */
export async function listKeys({ keyTable }: Target, plan?: PlanId): Promise<KeyView[]> {
  const now = Date.now();
  const views: KeyView[] = [];
  for await (const page of keyTable.pages(warn)) {
    for (const record of page) if (!record.revoked) views.push(keyView(record, now));
  }
  return views
    .filter((view) => plan === undefined || view.plan === plan)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.created.localeCompare(b.created));
}
