import type { Hono } from 'hono';
import * as v from 'valibot';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { petStatuses } from '../../../shared/contract/records.ts';
import { itemsOf, stockList } from '../../../shared/stores/sorted-table.ts';
import type { Target } from '../service/target.ts';
import { formatNumber } from '../service/text.ts';
import { filters, type Html, markup, type Sent, table } from './markup.ts';
import type { Site } from './site.ts';
import { addStockFiles, fileCards } from './stock-files.ts';

const PAGE_SIZE = 50;

const fields = [
  { name: 'petId', label: 'Search', type: 'search', attributes: markup`placeholder="Pet id"` },
  {
    name: 'status',
    label: 'Status',
    choices: [['', 'all'], ...petStatuses.map((status) => [status, status] as const)],
  },
] as const;

const columns = v.keyof(inventoryItemSchema).options;
const title = (field: string): string => `${field.charAt(0).toUpperCase()}${field.slice(1).replace(/Id$/, '')}`;
/** Marks the first page in a trail. */
const START = 'start';
/** Maximum number of previous pages in a trail. */
const MAX_TRAIL = 50;
const cell = (value: number | string = ''): string => (typeof value === 'number' ? formatNumber(value) : value);

/** `/stock`: the stock of all pets, with import and export. */
export function addStockPage(app: Hono, site: Site): void {
  addStockFiles(app, site, async (c, sent) => {
    const content = markup`<h1>Stock</h1>${await stockTable(site.target, c.req.query())}${fileCards(site)}`;
    return site.show(c, { title: 'Stock', part: 'stock', failure: sent.formError }, content);
  });
}

/** The stock by ascending pet id, paginated. */
async function stockTable(target: Target, query: Sent['values']): Promise<Html> {
  const { entries, last } = await read(target, query);
  const names = await namesOf(target, entries);
  const rows = entries.map((entry) =>
    columns.map((column) => cell(entry[column])).concat(names.get(entry.petId) ?? ''),
  );
  const trail = (query['trail'] ?? '').split(' ').filter((position) => position === START || isInt64(position));
  const { status = '', after = START } = query;
  const link = (to: string, from: readonly string[], text: string): Html =>
    markup`<a href="stock?${new URLSearchParams({ status, after: to, trail: from.slice(-MAX_TRAIL).join(' ') }).toString()}">${text}</a>`;
  const back = trail.length === 0 ? markup`<span></span>` : link(trail.at(-1) ?? START, trail.slice(0, -1), '← Back');
  const next = last === undefined ? '' : link(last, [...trail, after], `The pets after ${last} →`);
  const none = markup`<p class="empty">No pets match these filters${last === undefined ? '' : ' up to here'}. <a href="stock">Show all</a>.</p>`;
  return markup`${filters(fields, query)}<section>
${rows.length > 0 ? table('Stock', columns.map(title).concat('Name'), rows) : none}
<p class="pages">${back}${next}</p></section>`;
}

/** Names of the pets that have a record, by id. */
async function namesOf({ documents, tables }: Target, entries: readonly InventoryItem[]): Promise<Map<string, string>> {
  const keys = entries.map(({ petId }) => ({ petId: BigInt(petId) }));
  const found = keys.length === 0 ? [] : await itemsOf(documents, tables.pets, keys);
  return new Map(found.map((item) => [String(item['petId']), String(item['name'])]));
}

/** The requested pet, or the first entries after an id, of all statuses or one. */
async function read(
  { documents, tables: { stock: name } }: Target,
  { petId: text = '', status, after = '' }: Sent['values'],
) {
  const list = stockList(documents, name);
  const petId = text.trim();
  if (petId !== '') return { entries: isInt64(petId) ? await list.byIds([petId]) : [], last: undefined };
  const wanted = petStatuses.find((one) => one === status);
  return list.page({ status: wanted, after: isInt64(after) ? after : undefined }, PAGE_SIZE);
}
