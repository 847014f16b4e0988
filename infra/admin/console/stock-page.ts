import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { petStatuses } from '../../../shared/contract/records.ts';
import { itemsOf, type Page, stockList } from '../../../shared/stores/sorted-table.ts';
import { AdminError } from '../service/failures.ts';
import { recordsText } from '../records/export-records.ts';
import { differencesText, type ImportPreview, previewImport } from '../records/import-records.ts';
import { fieldsOf, formatsOf, stockEntries } from '../records/record-kinds.ts';
import { setQuantity } from '../records/set-quantity.ts';
import type { Target } from '../service/target.ts';
import { capitalized, formatNumber } from '../service/text.ts';
import { field, filters, hidden, type Html, markup, nothingSent, type Sent, table } from './markup.ts';
import { onForm, type Site } from './site.ts';

const PAGE_SIZE = 50;

/** The pattern keeps everything but an id out of the address. */
const petIdAttributes = markup`placeholder="Pet id" inputmode="numeric" pattern="\\s*-?\\d{1,19}\\s*"`;

const statusChoices = [['', 'all'] as const, ...petStatuses.map((status) => [status, status] as const)];
const filterFields = [
  { name: 'petId', label: 'Search', type: 'search', attributes: petIdAttributes },
  { name: 'status', label: 'Status', choices: statusChoices },
] as const;

const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with ${fieldsOf(stockEntries)}, 1 MiB at most.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

const columns = v.keyof(inventoryItemSchema).options;
const cell = (value: number | string = ''): string => (typeof value === 'number' ? formatNumber(value) : value);

/** `/stock`: the stock of all pets, the quantity of one, import and export. */
export function addStockPage(app: Hono, site: Site): void {
  const { target } = site;
  const show = async (c: Context, sent: Sent = nothingSent): Promise<Response> => {
    const content = markup`<h1>Stock</h1>${await stockSection(site, { ...sent.values, ...c.req.query() }, sent)}${fileCards(site)}`;
    return site.show(c, { title: 'Stock', part: 'stock', failure: sent.formError }, content);
  };
  app.get('/stock', (c) => show(c));
  const set = async (c: Context, { petId = '', quantity = '', ifQuantity }: Sent['values']): Promise<Response> => {
    const message = await setQuantity(target, { petId, quantity, ifQuantity });
    return site.redirect(c, `/stock?petId=${petId}`, message);
  };
  onForm(app, '/stock/set', set, show);
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

/** The stock by ascending pet id, paginated; for one pet, with a form that sets its quantity. */
async function stockSection(site: Site, query: Sent['values'], sent: Sent): Promise<Html> {
  const { entries, last } = await read(site.target, query);
  const names = await namesOf(site.target, entries);
  const rows = entries.map(({ petId, ...entry }) => [
    markup`<a href="stock?petId=${petId}">${petId}</a>`,
    ...columns.slice(1).map((column) => cell({ petId, ...entry }[column])),
    names.get(petId) ?? '',
  ]);
  const { status = '', petId = '' } = query;
  const [entry] = petId === '' ? [] : entries;
  const address = new URLSearchParams({ status, after: last ?? '' }).toString();
  const next = last !== undefined && markup`<a href="stock?${address}">The pets after ${last} →</a>`;
  const none = markup`<p class="empty">No pets match these filters${last === undefined ? '' : ' up to here'}. <a href="stock">Show all</a>.</p>`;
  return markup`${filters(filterFields, query)}<section>
${rows.length > 0 ? table('Stock', [...columns.map((name) => capitalized(name.replace(/Id$/, ''))), 'Name'], rows) : none}
<p class="pages"><span></span>${next}</p></section>${entry && quantityCard(site, entry, sent)}`;
}

function quantityCard(site: Site, { petId, quantity }: InventoryItem, sent: Sent): Html {
  const values = { quantity: String(quantity), ...sent.values };
  const quantityField = field('set', { name: 'quantity', label: 'Quantity', isNumber: true }, { ...sent, values });
  const shown = hidden({ petId, ifQuantity: String(quantity) });
  return markup`<section class="card narrow"><h2>Set the quantity of pet ${petId}</h2>
${site.form('/stock/set', markup`<button>Set</button>`, [quantityField, ...shown])}</section>`;
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
): Promise<Page<InventoryItem>> {
  const list = stockList(documents, name);
  const petId = text.trim();
  if (petId !== '') return { entries: isInt64(petId) ? await list.byIds([petId]) : [], last: undefined };
  const wanted = petStatuses.find((one) => one === status);
  return list.page({ status: wanted, after: isInt64(after) ? after : undefined }, PAGE_SIZE);
}

/** Shows the changes of a file, and writes them once they are confirmed. */
function importing(site: Site): (c: Context, values: Sent['values']) => Promise<Response> {
  let shown: { readonly id: string; readonly preview: ImportPreview } | undefined;
  return async (c, { confirmed }) => {
    if (confirmed === undefined) {
      const { file } = await c.req.parseBody();
      if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
      const source = { name: file.name, open: () => piecesOf(file) };
      const preview = await previewImport(source, stockEntries, () => Promise.resolve(site.target));
      shown = { id: randomUUID(), preview };
      return site.show(c, { title: 'Import?', part: 'stock' }, question(site, shown.id, preview));
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

/** In small pieces: the rows of a piece are parsed together. */
async function* piecesOf(file: File, bytes = 8_192): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += bytes) yield file.slice(at, at + bytes).bytes();
}

/** Confirmation page: the changes of an import. */
function question(site: Site, id: string, { counts, largest }: ImportPreview): Html {
  const list = markup`<h2>Largest changes</h2><ul>${largest.map((line) => markup`<li>${line}</li>`)}</ul>`;
  const button = markup`<button class="danger">Import</button>`;
  const hasChanges = counts.added + counts.changed > 0;
  return markup`<h1>Import?</h1><section class="card narrow"><p>${differencesText(counts)}</p>
${largest.length > 0 ? list : ''}${hasChanges ? site.form('/stock/import', button, hidden({ confirmed: id })) : ''}
<p><a href="stock">Cancel</a></p></section>`;
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
