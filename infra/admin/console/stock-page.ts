import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { petStatuses } from '../../../shared/contract/records.ts';
import { itemsOf, type Page, stockList } from '../../../shared/stores/sorted-table.ts';
import { StockStore, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { findStock, removalTexts, removeStock, setStock } from '../records/change-stock.ts';
import { AdminError } from '../service/failures.ts';
import { recordsText } from '../records/export-records.ts';
import { differencesText, type ImportPreview, previewImport } from '../records/import-records.ts';
import { fieldsOf, formatsOf, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../service/target.ts';
import { capitalized, formatNumber } from '../service/text.ts';
import { dangerButton, field, filters, hidden, type Html, markup } from './markup.ts';
import { nothingSent, numeric, type Sent, table } from './markup.ts';
import { fieldOf, onForm, parseInputs, type Site } from './site.ts';
import { changesOfPet } from './stock-changes.ts';

const PAGE_SIZE = 50;

/** The pattern keeps everything but an id out of the address. */
const petIdAttributes = markup`placeholder="Pet id" inputmode="numeric" pattern=" *-?[0-9]{1,19} *"`;

const statusChoices = petStatuses.map((status) => [status, status] as const);
const filterFields = [
  { name: 'petId', label: 'Search', type: 'search', attributes: petIdAttributes },
  { name: 'status', label: 'Status', choices: [['', 'all'] as const, ...statusChoices] },
] as const;
const entryFields = [
  { name: 'quantity', label: 'Quantity', attributes: numeric },
  { name: 'status', label: 'Status', choices: statusChoices },
  fieldOf('reason'),
];

const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with ${fieldsOf(stockEntries)}, 1 MiB at most.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

const statusOf = (text = '') => petStatuses.find((status) => status === text);
const columns = v.keyof(inventoryItemSchema).options;
const cell = (value: number | string): string => (typeof value === 'number' ? formatNumber(value) : value);
const rowOf = (entry: InventoryItem, name = ''): readonly (Html | string)[] => [
  markup`<a href="stock?petId=${entry.petId}">${entry.petId}</a>`,
  ...columns.slice(1).map((column) => cell(entry[column])),
  name,
];

/** `/stock`: the stock of all pets, the entry of one, import and export. */
export function addStockPage(app: Hono, site: Site): void {
  const { target } = site;
  const show = async (c: Context, sent: Sent = nothingSent): Promise<Response> => {
    const query = { petId: sent.values['petId'] ?? '', ...c.req.query() };
    const changes = await changesOfPet(site, query['petId']);
    const content = markup`${await stockSection(site, query, sent)}${changes}${fileCards(site)}`;
    return site.show(c, { title: 'Stock', part: 'stock', failure: sent.formError }, content);
  };
  app.get('/stock', (c) => show(c));
  const set = async (c: Context, values: Sent['values']): Promise<Response> => {
    const { petId = '', quantity, status, version } = values;
    const { reason } = parseInputs({ inputs: ['reason'] }, values);
    const change = { petId, quantity, status: statusOf(status), version, reason };
    const { text } = await setStock(target, change);
    return site.redirect(c, `/stock?petId=${petId}`, text);
  };
  onForm(app, '/stock/set', set, show);
  onForm(app, '/stock/remove', (c, values) => remove(site, c, values), show);
  onForm(app, '/stock/import', importing(site), (c, { formError }) => show(c, { ...nothingSent, formError }));
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, async (c) => {
      // Read completely first, so that a failure of the store is shown as a page.
      const text = (await Array.fromAsync(recordsText(target, stockEntries, format))).join('');
      c.header('Content-Disposition', `attachment; filename="stock${format}"`);
      c.header('Content-Type', format === '.csv' ? 'text/csv; charset=utf-8' : 'application/jsonl');
      return c.body(text);
    });
  }
}

/** The stock by ascending pet id, paginated; for one pet, with the forms of its entry. */
async function stockSection(site: Site, query: Sent['values'], sent: Sent): Promise<Html> {
  const { entries, last, found } = await read(site.target, query);
  const names = await namesOf(site.target, entries);
  const rows = entries.map((entry) => rowOf(entry, names.get(entry.petId)));
  const { status = '', petId = '', after = '' } = query;
  const address = (from = '') => `stock?${new URLSearchParams({ status, after: from }).toString()}`;
  const first = petId + after !== '' && markup`<a href="${address()}">← The first pets</a>`;
  const next = last !== undefined && markup`<a href="${address(last)}">The pets after ${last} →</a>`;
  const none = markup`<p class="empty">No pets match these filters${last === undefined ? '' : ' up to here'}. <a href="stock">Show all</a>.</p>`;
  return markup`${filters(filterFields, query)}<section>
${rows.length > 0 ? table('Stock', [...columns.map((name) => capitalized(name.replace(/Id$/, ''))), 'Name'], rows) : none}
<p class="pages"><span>${first}</span>${next}</p></section>${found && entryCard(site, found, sent)}`;
}

/** Forms that change an entry while it is as shown. Values that were sent for an earlier version are not kept. */
function entryCard(site: Site, { entry, version }: StockVersion, sent: Sent): Html {
  const { petId, quantity, status } = entry;
  const values = { quantity: String(quantity), status, ...(sent.values['version'] === version && sent.values) };
  const shown = hidden({ petId, version });
  const fields = entryFields.map((one) => field('set', one, { ...sent, values }));
  return markup`<section class="card narrow"><h2>Stock of pet ${petId}</h2>
${site.form('/stock/set', markup`<button>Set</button>`, [...fields, ...shown])}
${site.form('/stock/remove', dangerButton('Remove …'), shown)}</section>`;
}

/** Shows what a removal does, and removes the entry once that is confirmed. */
async function remove(site: Site, c: Context, values: Sent['values']): Promise<Response> {
  const { entry, version } = await findStock(site.target, values['petId'] ?? '');
  if (values['confirmed'] !== undefined) {
    const { text } = await removeStock(site.target, { entry, version: values['version'] ?? '' });
    return site.redirect(c, '/stock', text);
  }
  const { what, putBack } = removalTexts(site.target, entry);
  const shown = hidden({ petId: entry.petId, version, confirmed: 'yes' });
  const form = site.form('/stock/remove', dangerButton('Remove'), shown);
  const page = { title: `Remove ${what}?`, part: 'stock' } as const;
  return site.ask(c, page, markup`<p>${putBack}</p>${form}`, 'stock');
}

async function namesOf({ documents, tables }: Target, entries: readonly InventoryItem[]): Promise<Map<string, string>> {
  const keys = entries.map(({ petId }) => ({ petId: BigInt(petId) }));
  const found = keys.length === 0 ? [] : await itemsOf(documents, tables.pets, keys);
  return new Map(found.map((item) => [String(item['petId']), String(item['name'])]));
}

/** The requested pet, or the first entries after an id, of all statuses or one. */
async function read(
  { documents, tables: { stock: name } }: Target,
  { petId: text = '', status, after = '' }: Sent['values'],
): Promise<Page<InventoryItem> & { readonly found?: StockVersion | undefined }> {
  const wanted = statusOf(status);
  const petId = text.trim();
  if (petId === '')
    return stockList(documents, name).page({ status: wanted, after: isInt64(after) ? after : undefined }, PAGE_SIZE);
  const entry = isInt64(petId) ? await new StockStore(documents, name).find(petId) : undefined;
  const found = wanted === undefined || entry?.entry.status === wanted ? entry : undefined;
  return { entries: found ? [found.entry] : [], last: undefined, found };
}

/** Shows the changes of a file, and writes them once they are confirmed. */
function importing(site: Site): (c: Context, values: Sent['values']) => Promise<Response> {
  let shown: { readonly id: string; readonly preview: ImportPreview } | undefined;
  return async (c, { confirmed }) => {
    if (confirmed === undefined) {
      const { file } = await c.req.parseBody();
      if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
      const source = { name: file.name, read: () => file.bytes() };
      const preview = await previewImport(site.target, source, stockEntries);
      shown = { id: randomUUID(), preview };
      return site.ask(c, { title: 'Import?', part: 'stock' }, importQuestion(site, shown.id, preview), 'stock');
    }
    const preview = shown?.id === confirmed ? shown.preview : undefined;
    shown = undefined;
    if (!preview)
      throw new AdminError('Another file was chosen, or this one was already imported. Choose the file again.');
    const { message, changedMeanwhile } = await preview.write();
    if (changedMeanwhile.length === 0) return site.redirect(c, '/stock', message);
    const left = changedMeanwhile.map((id) => `${id} was changed during the import and is not written`);
    throw new AdminError(...left, `${message} To write them, choose the file again.`);
  };
}

function importQuestion(site: Site, id: string, { counts, largest }: ImportPreview): Html {
  const list = markup`<h2>Largest changes</h2><ul>${largest.map((line) => markup`<li>${line}</li>`)}</ul>`;
  const hasChanges = counts.added + counts.changed > 0;
  return markup`<p>${differencesText(counts)}</p>${largest.length > 0 && list}
${hasChanges && site.form('/stock/import', dangerButton('Import'), hidden({ confirmed: id }))}`;
}

function fileCards(site: Site): Html {
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="stock/export${format}" download>Download ${format}</a>`,
  );
  const fields = [field('import', fileField, nothingSent)];
  return markup`<div class="cards"><section class="card"><h2>Import</h2>
<p>Each row replaces the stock entry of its pet; other entries stay. One invalid row rejects the whole file. You confirm the changes before they are written.</p>
${site.form('/stock/import', markup`<button>Import</button>`, fields, markup`enctype="multipart/form-data"`)}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import accepts.</p><p class="links">${links}</p></section></div>`;
}
