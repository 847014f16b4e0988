import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  ConditionalCheckFailedException,
  DescribeTableCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, paginateScan, PutCommand } from '@aws-sdk/lib-dynamodb';
import pThrottle from 'p-throttle';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import type { TableName } from '../../stages.ts';
import type { Item } from '../../write-items.ts';
import { AdminError } from '../admin-error.ts';
import { restoration, restoredKey } from '../keys/restored-key.ts';
import type { Target } from '../target.ts';
import type { OnProgress } from './record-kinds.ts';

/** Half of what DynamoDB takes for one partition, such as all stock, in a second: the rest is for customers. */
const inTurn = pThrottle({ limit: 50, interval: 100 })(() => Promise.resolve());

/** `exact`: also change what differs, and delete what was added. `open`: keys work at once. */
export type RestoreOptions = Readonly<Record<'exact' | 'open' | 'dryRun', boolean>> & { readonly from: string };

/** Copies from a table that AWS has restored. An item that is changed after it was read is left as it is then. */
export async function restoreTable(target: Target, table: TableName, options: RestoreOptions, onProgress: OnProgress) {
  const { documents: client, tables } = target;
  const { from: copy, exact, open, dryRun } = options;
  const live = tables[table];
  const describe = (TableName: string) =>
    client.send(new DescribeTableCommand({ TableName })).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      throw new AdminError(`There is no table ${TableName} at ${target.place}.`);
    });
  const [{ Table: ofLive }, { Table: ofCopy }] = [await describe(live), await describe(copy)];
  if (live === copy || !isDeepStrictEqual(ofLive?.KeySchema, ofCopy?.KeySchema))
    throw new AdminError(`The table ${copy} is no copy of ${live}.`);
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
  async function* changes(): AsyncGenerator<readonly [before: Item | undefined, after: Item | undefined]> {
    for await (const [after, before] of pairs(copy, live))
      if (!before || (exact && !isDeepStrictEqual(before, after))) yield [before, after];
    if (exact) for await (const pair of pairs(live, copy)) if (!pair[1]) yield pair;
  }
  const write = async ([before, after]: readonly [Item | undefined, Item | undefined]): Promise<void> => {
    const item = after && table === 'keys' ? restoredKey(after, open) : after;
    const id = String(Object.values(keyOf({ ...before, ...after })).at(-1));
    if (after && !item) return void done.lost.push(id);
    const put = { TableName: live, ...isStill(before, item) };
    try {
      if (!dryRun) await inTurn();
      if (!dryRun && item) await client.send(new PutCommand({ ...put, Item: item }));
      else if (!dryRun) await client.send(new DeleteCommand({ ...put, Key: keyOf({ ...before }) }));
      if (!dryRun && item && table === 'keys') await target.history.put(restoration(item));
      done[!after ? 'deleted' : before ? 'changed' : 'added'] += 1;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      done.changedMeanwhile.push(id);
    }
  };
  await Readable.from(changes()).forEach(write, { concurrency: 32 });
  return done;
}

/** The condition that an item is as it was read: each attribute of it, and of what takes its place. */
function isStill(before: Item = {}, after: Item = {}) {
  const names = Object.keys({ ...before, ...after });
  const parts = names.map((name, at) => (name in before ? `#${at} = :${at}` : `attribute_not_exists(#${at})`));
  const values = names.flatMap((name, at) => (name in before ? [[`:${at}`, before[name]]] : []));
  const ExpressionAttributeNames = Object.fromEntries(names.map((name, at) => [`#${at}`, name]));
  const ExpressionAttributeValues = values.length === 0 ? undefined : Object.fromEntries(values);
  return { ConditionExpression: parts.join(' AND '), ExpressionAttributeNames, ExpressionAttributeValues };
}
