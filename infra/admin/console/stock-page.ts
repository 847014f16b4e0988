import type { Hono } from 'hono';
import * as v from 'valibot';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { petStatuses } from '../../../shared/contract/records.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import type { Target } from '../target.ts';
import { formatNumber } from '../text-format.ts';
import { filters, type Html, markup, type Sent, table } from './markup.ts';
import type { Site } from './site.ts';
import { addStockFiles, fileCards } from './stock-files.ts';

const PAGE_SIZE = 50;

const fields = [
  { name: 'petId', label: 'Search', type: 'search', attributes: markup`placeholder="Id of a pet"` },
  {
    name: 'status',
    label: 'Status',
    choices: [['', 'all'], ...petStatuses.map((status) => [status, status] as const)],
  },
] as const;

const columns = v.keyof(inventoryItemSchema).options;
const title = (field: string): string => `${field.charAt(0).toUpperCase()}${field.slice(1).replace(/Id$/, '')}`;
const cell = (value: number | string = ''): string => (typeof value === 'number' ? formatNumber(value) : value);

/** `/stock`: the stock of all pets to look at, and files of it to change it. */
export function addStockPage(app: Hono, site: Site): void {
  addStockFiles(app, site, async (c, sent) => {
    const content = markup`<h1>Stock</h1>${await stockTable(site.target, c.req.query())}${fileCards(site)}`;
    return site.show(c, { title: 'Stock', part: 'stock', failure: sent.formError }, content);
  });
}

/** The stock, a page at a time, in ascending id. */
async function stockTable(target: Target, query: Sent['values']): Promise<Html> {
  const { entries, last } = await read(target, query);
  const rows = entries.map((entry) => columns.map((column) => cell(entry[column])));
  const next = new URLSearchParams({ status: query['status'] ?? '', after: last ?? '' }).toString();
  const none = markup`<p class="empty">No pet is like that${last === undefined ? '' : ' up to here'}. <a href="stock">Show all</a>.</p>`;
  return markup`${filters(fields, query)}<section>
${rows.length > 0 ? table('Stock', columns.map(title), rows) : none}
${last === undefined ? '' : markup`<p class="pages"><a href="stock?${next}">The pets after ${last} →</a></p>`}</section>`;
}

/** The pet that is looked for; or the first entries after an id, of all or of one status. */
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
