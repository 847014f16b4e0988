import { isInt64 } from '../../../shared/contract/int64.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import { petStatuses } from '../../../shared/contract/records.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { type StockVersion, stockVersions } from '../../../shared/stores/stock-store.ts';
import type { Target } from '../target.ts';
import { counted, number } from '../text-format.ts';
import {
  field,
  filters,
  heads as plainHeads,
  hidden,
  type Html,
  markup,
  nothingSent,
  type Sent,
  table,
} from './markup.ts';
import { type Columns, type Query, rowPage } from './row-pages.ts';
import type { Site } from './site.ts';

/** Entries that are read, sorted and counted at once. A larger stock has several tables of so many. */
const MOST_READ = 20_000;
/** Up to this quantity an entry is found by the filter for low stock. */
const LOW = 10;

const columns: Columns<InventoryItem> = {
  // They are read in this order.
  petId: { title: 'Pet', isUpFirst: true, by: () => 0 },
  quantity: { title: 'Quantity', isUpFirst: true, by: ({ quantity }) => quantity },
  status: { title: 'Status', isUpFirst: true, by: ({ status }) => status },
};

const statusChoices = petStatuses.map((status) => [status, status] as const);

const filterFields = [
  { name: 'petId', label: 'Search', type: 'search', attributes: markup`placeholder="Id of a pet"` },
  { name: 'status', label: 'Status', choices: [['', 'all'], ...statusChoices] },
  {
    name: 'quantity',
    label: 'Quantity',
    choices: [
      ['', 'all'],
      ['low', `${LOW} or fewer`],
    ],
  },
] as const;

/** The stock, a page of rows at a time, each with a form that changes its entry. @param sent what was sent for one, and refused */
export async function stockTable(site: Site, query: Query, sent: Sent): Promise<Html> {
  const { entries, last } = await read(site.target, query);
  const { status = '', quantity = '' } = query;
  const found = entries.filter(
    (entry) => (status === '' || entry.status === status) && (quantity !== 'low' || entry.quantity <= LOW),
  );
  const { rows, heads, links } = rowPage('stock', columns, found, query);
  const versions = await versionsOf(site.target, rows);
  const view = new URLSearchParams(query).toString();
  const cells = versions.map((row) => rowCells(site, row, view, sent));
  const none = markup`<p class="empty">No pet is like that. <a href="stock">Show all</a>.</p>`;
  return markup`${filters(filterFields, query)}
<section data-results><p class="quiet" aria-live="polite">${count(found, entries)}</p>
${cells.length > 0 ? table('Stock', [...heads, ...plainHeads(['Change'])], cells) : none}
${links}${last === undefined ? '' : more(last, query)}</section>`;
}

const count = ({ length }: readonly unknown[], all: readonly unknown[]): string =>
  length === all.length ? counted(length, 'pet') : `${number(length)} of ${counted(all.length, 'pet')}`;

const more = (last: string, query: Query): Html =>
  markup`<p class="quiet">There are more pets. Filtered, sorted and counted are these ${number(MOST_READ)} alone, up to ${last}.
<a href="stock?${new URLSearchParams({ ...query, page: '1', after: last, done: '' }).toString()}">The pets after ${last}</a></p>`;

interface Read {
  readonly entries: readonly InventoryItem[];
  /** The id of the last one; undefined where there are no more. */
  readonly last?: string | undefined;
}

/** The pet that is looked for; or the first entries after an id. */
async function read(
  { documents, tables: { stock: name } }: Target,
  { petId: text = '', after = '' }: Query,
): Promise<Read> {
  const list = stockList(documents, name);
  const petId = text.trim();
  if (petId !== '') return { entries: isInt64(petId) ? await list.byIds([petId]) : [] };
  const entries: InventoryItem[] = [];
  for await (const some of list.all(undefined, isInt64(after) ? after : undefined)) {
    entries.push(...some);
    if (entries.length > MOST_READ) break;
  }
  const first = entries.slice(0, MOST_READ);
  return { entries: first, last: entries.length > MOST_READ ? first.at(-1)?.petId : undefined };
}

/** The entries as they are now, as a list may lag; in the order of the rows. */
async function versionsOf({ documents, tables: { stock: name } }: Target, rows: readonly InventoryItem[]) {
  if (rows.length === 0) return [];
  const found = await stockVersions(documents, name).byIds(rows.map(({ petId }) => petId));
  const byId = new Map(found.map((one) => [one.entry.petId, one]));
  return rows.flatMap(({ petId }) => byId.get(petId) ?? []);
}

/** @param view the query of the page, which is shown again after a change */
function rowCells(site: Site, { entry, version }: StockVersion, view: string, sent: Sent): (Html | string)[] {
  const { petId, quantity, status } = entry;
  const id = `pet-${petId}`;
  const attributes = markup`form="${id}"`;
  const isFaulty = sent.values['petId'] === petId && Object.keys(sent.faults).length > 0;
  // With the version that they were changed from: who corrects them has not seen another.
  const filled = isFaulty ? sent : { ...nothingSent, values: { quantity: String(quantity), status, version } };
  const quantityField = { name: 'quantity', label: `Quantity of pet ${petId}`, isNumber: true, attributes };
  const statusField = { name: 'status', label: `Status of pet ${petId}`, choices: statusChoices, attributes };
  const button = markup`<button class="quiet" aria-label="Save pet ${petId}">Save</button>`;
  return [
    petId,
    field(id, quantityField, filled),
    field(id, statusField, filled),
    site.form('/stock', button, hidden({ petId, version: filled.values['version'] ?? '', view }), markup`id="${id}"`),
  ];
}
