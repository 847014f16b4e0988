import type { Context, Hono } from 'hono';
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { errorCatalogue, ServiceError } from '../../../shared/contract/errors.ts';
import { type Int64, isInt64 } from '../../../shared/contract/int64.ts';
import { quantitySchema } from '../../../shared/contract/inventory.ts';
import type { StockVersion } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../admin-error.ts';
import { stockText } from '../records/export-inventory.ts';
import { importRecords } from '../records/import-records.ts';
import { formatsOf, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../target.ts';
import { number } from '../text-format.ts';
import { facts, field, type Html, markup, nothingSent, type Sent } from './markup.ts';
import { onForm, parseForm, refusal, type Site, type Texts } from './site.ts';

/** `/stock`: the stock of a pet, and files of stock. */
export function addStockPage(app: Hono, site: Site): void {
  const { target } = site;
  app.get('/stock', (c) => showStock(c, site, { ...nothingSent, values: c.req.query() }));
  onForm(
    app,
    '/stock',
    async (c, values) => {
      const { petId, quantity } = await setQuantity(target, values);
      return site.redirect(c, `/stock?petId=${petId}`, `Pet ${petId} has ${number(quantity)} in stock now.`);
    },
    (c, sent) => showStock(c, site, sent),
  );
  onForm(
    app,
    '/stock/import',
    async (c) => site.redirect(c, '/stock', await importFile(target, (await c.req.parseBody())['file'])),
    (c, { failure }) => showStock(c, site, { ...nothingSent, failure }),
  );
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, async (c) => {
      // All of it first: where the store fails, a page says so.
      const text = (await Array.fromAsync(stockText(target, format))).join('');
      c.header('Content-Disposition', `attachment; filename="stock${format}"`);
      c.header('Content-Type', format === '.csv' ? 'text/csv; charset=utf-8' : 'application/jsonl');
      return c.body(text);
    });
  }
}

function parsePetId(petId: string): Int64 {
  if (isInt64(petId)) return petId;
  throw new InvalidArgumentError(errorCatalogue.INVALID_PET_ID.message);
}

function parseQuantity(text: string): number {
  const quantity = v.safeParse(quantitySchema, /^\d+$/.test(text) ? Number(text) : text);
  if (quantity.success) return quantity.output;
  throw new InvalidArgumentError(`It ${quantity.issues[0].message}.`);
}

/** As the API does with `If-Match`: only if the entry was not changed since it was shown. */
async function setQuantity({ stock }: Target, values: Texts): Promise<StockVersion['entry']> {
  const { petId, quantity } = parseForm(values, { petId: parsePetId, quantity: parseQuantity });
  try {
    return (await stock.change({ petId, quantity, versions: [values['version'] ?? ''] })).entry;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'PRECONDITION_FAILED') throw error;
    throw new AdminError('The entry was changed since it was shown, so nothing was set. It is shown as it is now.');
  }
}

async function importFile(target: Target, file: unknown): Promise<string> {
  if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
  const source = { name: file.name, open: () => file.stream() };
  return (await importRecords(source, stockEntries, () => Promise.resolve(target))).message;
}

const petField = { name: 'petId', label: 'Pet', hint: 'Its id, such as 101.', isNumber: true };
const quantityField = { name: 'quantity', label: 'New quantity', hint: 'The status stays.', isNumber: true };
const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with petId, quantity and status.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

/** @param sent what is looked for, or what was sent and refused */
async function showStock(c: Context, site: Site, sent: Sent): Promise<Response> {
  let search: Sent = { ...nothingSent, values: sent.values };
  let entry: Html | undefined;
  try {
    if (search.values['petId'] !== undefined) entry = await entryForm(site, search.values['petId'], sent);
  } catch (error) {
    search = refusal(sent.values, error);
  }
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="stock/export${format}" download>Download ${format}</a>`,
  );
  const fields = [field('import', fileField, nothingSent)];
  const content = markup`<h1>Stock</h1><div class="cards">
<section class="card"><h2>Find a pet</h2><form action="stock">${field('find', petField, search)}<button class="quiet">Find</button></form>
${entry ?? ''}</section>
<section class="card"><h2>Import</h2>
<p>Each entry replaces the one of its pet, and no other. The whole file is checked first: with one wrong row, nothing is written.</p>
${site.form('/stock/import', markup`<button>Import</button>`, fields, markup`enctype="multipart/form-data"`)}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import reads.</p><p class="links">${links}</p></section></div>`;
  return site.show(c, { title: 'Stock', part: 'stock', failure: sent.failure ?? search.failure }, content);
}

/** The entry of a pet, with a form for its quantity. @throws AdminError where there is none */
async function entryForm(site: Site, text: string, sent: Sent): Promise<Html> {
  const { petId } = parseForm({ petId: text }, { petId: parsePetId });
  const found = await site.target.stock.find(petId);
  if (!found) throw new AdminError(`Pet ${petId} has no stock entry.`);
  const { quantity, status } = found.entry;
  const fields = markup`<input type="hidden" name="petId" value="${petId}">
<input type="hidden" name="version" value="${found.version}">${field('set', quantityField, sent)}`;
  return markup`${facts({ Pet: petId, Quantity: number(quantity), Status: status })}
${site.form('/stock', markup`<button>Set the quantity</button>`, [fields])}`;
}
