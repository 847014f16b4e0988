import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ALL_KEYS, type DayUsage, KeyUsage, sumByDay } from '../../shared/key-registry/key-usage.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { DAY_MS, isoDay } from '../../shared/keys/verdict.ts';
import { inventoryItemSchema } from '../../shared/contract/inventory.ts';
import { orderSchema } from '../../shared/contract/orders.ts';
import { petRecordSchema } from '../../shared/contract/pets.ts';
import type { StockAuthor, StockWrite } from '../../shared/stores/stock-history.ts';
import type { StockVersion } from '../../shared/stores/stock-store.ts';
import { demoKey, limitsOfDemoKey } from '../demo-keys.ts';

const sampleDataSchema = v.object({
  stock: v.array(inventoryItemSchema),
  pets: v.array(petRecordSchema),
  orders: v.array(orderSchema),
});

/**
 * A small pet store, ascending by id: a pet for every stock entry, and orders. Orders for pending pets are open,
 * those for sold pets complete.
 */
export const {
  stock: sampleStock,
  pets: samplePets,
  orders: sampleOrders,
} = v.parse(sampleDataSchema, JSON.parse(readFileSync(join(import.meta.dirname, 'sample-data.json'), 'utf8')));

const SAMPLE_DAYS = 30;

/**
 * Items of the usage table: the requests of the demo keys in the month before, with weekends and one flood; and the
 * totals.
 */
export function sampleUsage(now: number) {
  const ofKeys = planIds.flatMap((plan, at) => {
    const { perDay } = limitsOfDemoKey(plan);
    return Array.from({ length: SAMPLE_DAYS }, (_, index): [string, DayUsage] => {
      const time = now - (SAMPLE_DAYS - index) * DAY_MS;
      const isWeekend = new Date(time).getUTCDay() % 6 === 0;
      const isFlood = plan === 'free' && index === 20;
      const share = (isWeekend ? 0.1 : 0.3) + 0.05 * ((7 * index + 3 * at) % 5);
      const used = isFlood ? perDay : Math.round(share * perDay);
      const usage = { day: isoDay(time), used, refused: isFlood ? perDay / 2 : 0, sample: true } as const;
      return [parseToken(demoKey(plan))?.recordId ?? '', usage];
    });
  });
  const totals = [...sumByDay(ofKeys.map(([, usage]) => usage)).values()];
  const ofAll = totals.map((usage): [string, DayUsage] => [ALL_KEYS, { ...usage, sample: true }]);
  return [ofKeys, ofAll].map((days) => days.map(([recordId, usage]) => KeyUsage.itemOf(recordId, usage)));
}

/** Changes of an entry in the month before, up to its current version: sales each day, and a delivery each week. */
export function sampleChanges({ entry, version }: StockVersion, now: number): [StockWrite, StockAuthor][] {
  const unit = Math.ceil(entry.quantity / 10);
  const versionAt = (daysAgo: number): string => (daysAgo === 0 ? version : `sample${entry.petId}-${daysAgo}`);
  let { quantity } = entry;
  return Array.from({ length: SAMPLE_DAYS }, (_, daysAgo) => {
    const isDelivery = daysAgo % 7 === 6;
    const was = quantity + unit * (isDelivery ? -12 : 1 + (daysAgo % 3));
    const replaced = versionAt(daysAgo + 1);
    const write = {
      ...entry,
      quantity,
      was,
      replaced,
      version: versionAt(daysAgo),
      at: now - (daysAgo + 0.5) * DAY_MS,
    };
    quantity = was;
    const key = demoKey(isDelivery ? 'business' : 'free');
    const author = { who: parseToken(key)?.recordId ?? '', token: `main/${key.slice(-4)}`, reason: 'sample data' };
    return [write, { ...author, how: isDelivery ? 'update' : 'adjustment' }];
  });
}
