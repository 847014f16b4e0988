import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { DescribeTableCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import { newVersion } from '../../../shared/stores/stock-store.ts';
import { UNREAD } from '../../../shared/key-registry/reconcile.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import type { TableName } from '../../tables.ts';
import type { Item } from '../../../shared/item-attributes.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import type { OnProgress } from './record-kinds.ts';
import { CONCURRENT_WRITES, type ItemChange, writeIfUnchanged } from './write-if-unchanged.ts';

/** `exact`: also overwrite items that differ and delete added ones. `open`: restore keys active. */
export type RestoreOptions = Readonly<Record<'exact' | 'open' | 'dryRun', boolean>> & { readonly from: string };

/** Copies items from a table that AWS has restored. An item that is changed after it was read is not overwritten. */
export async function restoreTable(target: Target, table: TableName, options: RestoreOptions, onProgress: OnProgress) {
  const { documents: client, tables } = target;
  const { from: copy, exact, open, dryRun } = options;
  const live = tables[table];
  const describe = (TableName: string) =>
    client.send(new DescribeTableCommand({ TableName })).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      throw new AdminError(`The table ${TableName} does not exist at ${target.place}.`);
    });
  const [{ Table: ofLive }, { Table: ofCopy }] = [await describe(live), await describe(copy)];
  if (live === copy || !isDeepStrictEqual(ofLive?.KeySchema, ofCopy?.KeySchema))
    throw new AdminError(`The table ${copy} is not a copy of ${live}.`);
  const keys = (ofLive?.KeySchema ?? []).map(({ AttributeName = '' }) => AttributeName);
  const keyOf = (item: Item): Item => Object.fromEntries(keys.map((key) => [key, item[key]]));
  const done = { added: 0, changed: 0, deleted: 0, changedMeanwhile: [] as string[], lost: [] as string[] };
  let compared = 0;

  async function* pairs(scanned: string, other: string): AsyncGenerator<readonly [Item, Item | undefined]> {
    const scan = { TableName: scanned, ConsistentRead: true, Limit: 100 };
    for await (const { Items = [] } of paginateScan({ client }, scan)) {
      const found = Items.length === 0 ? [] : await itemsOf(client, other, Items.map(keyOf));
      const byKey = new Map(found.map((item) => [JSON.stringify(keyOf(item)), item]));
      for (const item of Items) yield [item, byKey.get(JSON.stringify(keyOf(item)))];
      onProgress((compared += Items.length), Math.max(ofCopy?.ItemCount ?? 0, compared));
    }
  }
  async function* changes(): AsyncGenerator<ItemChange> {
    for await (const [after, before] of pairs(copy, live))
      if (!before || (exact && !isDeepStrictEqual(contentOf(before), contentOf(after)))) yield { before, after };
    if (exact) for await (const [before, after] of pairs(live, copy)) if (!after) yield { before, after };
  }
  const author = { how: 'restore', reason: `from ${copy}` } as const;
  const write = async ({ before, after }: ItemChange): Promise<void> => {
    const item = after && restoredItem(table, after, open);
    const key = keyOf({ ...before, ...after });
    const id = String(Object.values(key).at(-1));
    if (after && !item) return void done.lost.push(`${String(after['name'])} (${String(after['keyId'])})`);
    const isDone = dryRun || (await writeIfUnchanged(target, table, { before, after: item, key }, author));
    if (!isDone) return void done.changedMeanwhile.push(id);
    done[!after ? 'deleted' : before ? 'changed' : 'added'] += 1;
    if (dryRun || table !== 'keys' || !item) return;
    const [recordId, revision] = [String(item['recordId']), Number(item['revision'])];
    await target.history.put({ recordId, revision, at: revision, what: ['restored from a backup'] });
  };
  await Readable.from(changes()).forEach(write, { concurrency: CONCURRENT_WRITES });
  return done;
}

/** All but the version of a stock entry: a restored one has another. */
const contentOf = (item: Item): Item => ({ ...item, version: undefined });

/** The item to write for one of the copy; undefined if it cannot be restored. */
function restoredItem(table: TableName, item: Item, isOpen: boolean): Item | undefined {
  if (table === 'keys') return restoredKey(item, isOpen);
  // ETags of the time before the restore must not match.
  return table === 'stock' ? { ...item, version: newVersion() } : item;
}

/** The item of a restored key, which a sync creates or adopts in API Gateway; undefined if its value is unknown. */
function restoredKey(item: Item, isOpen: boolean): Item | undefined {
  if (!isIssued(String(item['recordId']))) return undefined;
  // Higher than every revision since the copy, which the history may have.
  const now = Date.now();
  const restored = { ...item, keyId: undefined, unappliedSince: UNREAD, revision: now, changedAt: now };
  // The copy lacks later revocations and suspensions.
  return isOpen ? restored : { ...restored, enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
}
