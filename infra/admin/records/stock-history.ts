import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { paginateQuery, paginateScan } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { DAY_MS, isoDay } from '../../../shared/keys/verdict.ts';
import { findPet } from '../../../shared/stores/find-pet.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { counted, formatNumber, formatTime, truncated } from '../service/text.ts';
import { parsePetId } from './change-stock.ts';
import { authorsOf, parseRecord, rowOf, rowsOfPet, type StockRecord, type StockRow } from './stock-rows.ts';

/** A change is recorded within this time, in milliseconds, or probably not at all. */
const RECORDED_MS = 1_000;

/** Max changes of one result. */
export const MAX_CHANGES = 100_000;

/** The stock changes of a pet in the last days, newest first. @throws AdminError without a change or an entry */
export async function historyOfPet(target: Target, text: string, days: number, max = MAX_CHANGES) {
  const petId = parsePetId(text);
  const found = await readHistory(target, petId, days, max);
  if (found.rows[0]?.note !== 'not recorded') return found;
  // Perhaps a change whose record was being written.
  await target.pause(RECORDED_MS);
  return readHistory(target, petId, days, max);
}

async function readHistory(target: Target, petId: Int64, days: number, max: number) {
  const { documents, tables } = target;
  const current = await new StockStore(documents, tables.stock).find(petId).catch(unreadable);
  const since = isoDay(Date.now() - (days - 1) * DAY_MS);
  const query = {
    TableName: tables.changes,
    KeyConditionExpression: 'petId = :petId',
    ExpressionAttributeValues: { ':petId': BigInt(petId) },
    ScanIndexForward: false,
    ConsistentRead: true,
  };
  const records: StockRecord[] = [];
  for await (const { Items = [] } of paginateQuery({ client: documents, pageSize: 1_000 }, query)) {
    records.push(...Items.map(parseRecord));
    if (records.length > max || (records.at(-1)?.at ?? since) < since) break;
  }
  const end = records.findIndex(({ at }, index) => at < since || index === max);
  const older = records[end];
  const shown = older ? records.slice(0, end) : records;
  const read = async (id: string) => [id, await target.keyTable.get(id).catch(() => undefined)] as const;
  const keys = new Map(await Promise.all([...authorsOf(shown)].map(read)));
  if (!current && records.length === 0)
    throw new AdminError(`Pet ${petId} has no stock entry, and no changes of one are recorded.`);
  const pet = await findPet(documents, tables.pets, petId).catch(() => undefined);
  /** Whether there are more changes in these days. */
  const isCut = older !== undefined && older.at >= since;
  return {
    petId,
    name: pet?.name ?? null,
    days,
    isCut,
    entry: current === 'unreadable' ? undefined : current?.entry,
    rows: rowsOfPet(shown, current, older !== undefined, keys),
  };
}

function unreadable(error: unknown): 'unreadable' {
  if (error instanceof ServiceError && error.code === 'INTERNAL_ERROR') return 'unreadable';
  throw error;
}

/** Pages of 1 MB that a scan reads per second, about. */
const PAGES_PER_SECOND = 10;
/** Of 4 KB, eventually consistent: half a read unit each. */
const READ_UNITS_PER_MB = 128;

/** Number and size of all records, which AWS updates every six hours, and a sentence on what it takes to read them. */
export async function estimateOfScan({ documents, tables }: Target) {
  const { Table } = await documents.send(new DescribeTableCommand({ TableName: tables.changes }));
  const { ItemCount: count = 0, TableSizeBytes: bytes = 0 } = Table ?? {};
  const size = Math.ceil(bytes / 1_048_576);
  const seconds = counted(Math.ceil(size / PAGES_PER_SECOND), 'second');
  const effort = `${formatNumber(size)} MB, about ${seconds} and ${formatNumber(size * READ_UNITS_PER_MB)} reads`;
  return { count, text: `Reading the changes of all keys and admins: ${formatNumber(count)} records, ${effort}.` };
}

/** What a key changed, newest first, by a scan of all records. @throws AdminError for too many changes */
export async function changesByKey(
  { documents, tables }: Target,
  key: KeyRecord,
  since: number,
  { onPage, maxPages = Infinity }: { readonly onPage?: (records: number) => void; readonly maxPages?: number } = {},
) {
  const found: StockRecord[] = [];
  let pages = 0;
  const scan = {
    TableName: tables.changes,
    FilterExpression: 'who = :who AND change >= :since',
    ExpressionAttributeValues: { ':who': key.recordId, ':since': new Date(since).toISOString() },
  };
  for await (const { Items = [], ScannedCount = 0 } of paginateScan({ client: documents }, scan)) {
    if ((pages += 1) > maxPages) break;
    found.push(...Items.map(parseRecord));
    if (found.length > MAX_CHANGES)
      throw new AdminError(`The key has made more than ${counted(MAX_CHANGES, 'change')}: pass a later --since.`);
    onPage?.(ScannedCount);
  }
  const keys = new Map([[key.recordId, key]]);
  const rows = found.toSorted((a, b) => (a.at < b.at ? 1 : -1)).map((record) => rowOf(record, keys));
  return { id: idOf(key), name: key.name, isCut: pages > maxPages, rows };
}

export const CHANGE_TITLES = ['time', 'quantity', 'change', 'status', 'who', 'by', 'reference', 'reason'];

/** The texts of a row under the titles. The author is the last part of an ARN, or a key and its token. */
export function changeCells({ at, note, who, name, token, how, ...row }: StockRow): string[] {
  if (at === null) return [note ?? '', ...CHANGE_TITLES.slice(1).map(() => '')];
  const { quantity, difference, status, reference, reason } = row;
  const left = note === 'removed' ? note : quantity === null ? 'not known' : formatNumber(quantity);
  const sign = (difference ?? 0) > 0 ? '+' : '';
  const change = note === 'new' ? note : difference === null ? 'not known' : sign + formatNumber(difference);
  const author = name === null ? who?.replace(/^arn:(?:[^:]*:){4}/, '') : `${name} (${who})`;
  const by = [author, token].filter((part) => part !== null).join(' ');
  return [formatTime(at), left, change, status ?? '', by, how ?? '', truncated(reference ?? '', 40), reason ?? ''];
}
