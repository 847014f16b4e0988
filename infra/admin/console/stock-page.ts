import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { InvalidArgumentError } from 'commander';
import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { errorCatalogue, ServiceError } from '../../../shared/contract/errors.ts';
import { type Int64, isInt64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, quantitySchema } from '../../../shared/contract/inventory.ts';
import type { StockVersion } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../admin-error.ts';
import { exportInventory } from '../records/export-inventory.ts';
import { importRecords } from '../records/import-records.ts';
import { formatsOf, stockEntries } from '../records/record-kinds.ts';
import { imported, number } from '../words.ts';
import { attempt, form, parseForm, type Refused, valuesOf } from './form.ts';
import { facts, field, type Html, markup, nothingSent, type Sent } from './markup.ts';
import { redirectTo, show, type Site } from './site.ts';

/** `/stock`: the stock of a pet, and files of stock. */
export function addStockPage(app: Hono, site: Site): void {
  app.get('/stock', (c) => showStock(c, site, c.req.query()));
  app.post('/stock', async (c) => {
    const values = await valuesOf(c);
    const outcome = await attempt(values, () => setQuantity(site, values));
    if ('failure' in outcome) return showStock(c, site, values, outcome);
    const { petId, quantity } = outcome.done;
    return redirectTo(c, site, `/stock?petId=${petId}`, `Pet ${petId} has ${number(quantity)} in stock now.`);
  });
  app.post('/stock/import', async (c) => {
    const { file } = await c.req.parseBody();
    const outcome = await attempt({}, () => importFile(site, file));
    return 'failure' in outcome ? showStock(c, site, {}, outcome) : redirectTo(c, site, '/stock', outcome.done);
  });
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, (c) => download(c, site, `stock${format}`));
  }
}

function parsePetId(text: string): Int64 {
  const petId = text.trim();
  if (isInt64(petId)) return petId;
  throw new InvalidArgumentError(errorCatalogue.INVALID_PET_ID.message);
}

function parseQuantity(text: string): number {
  const quantity = v.safeParse(quantitySchema, /^\d+$/.test(text.trim()) ? Number(text) : text);
  if (quantity.success) return quantity.output;
  throw new InvalidArgumentError(`It ${quantity.issues[0].message}.`);
}

/** As the API does with `If-Match`: only if nobody has changed the entry since it was shown. */
async function setQuantity({ target }: Site, values: Sent['values']): Promise<InventoryItem> {
  const { petId, quantity } = parseForm(values, { petId: parsePetId, quantity: parseQuantity });
  try {
    const { entry } = await target.stock.update({ petId, quantity, versions: [values['version'] ?? ''] });
    return entry;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'PRECONDITION_FAILED') throw error;
    throw new AdminError(
      'Somebody has changed the entry since it was shown, so nothing was set. It is shown as it is now.',
    );
  }
}

const numeric = markup`inputmode="numeric"`;
const petField = { name: 'petId', label: 'Pet', hint: 'Its id, such as 101.', attributes: numeric };
const quantityField = { name: 'quantity', label: 'New quantity', hint: 'The status stays.', attributes: numeric };
const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with petId, quantity and status.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

async function showStock(c: Context, site: Site, values: Sent['values'], refused?: Refused): Promise<Response> {
  const { petId } = values;
  const found = petId === undefined ? undefined : await attempt({ petId }, () => findEntry(site, petId));
  const failure = refused?.failure ?? (found && 'failure' in found ? found.failure : undefined);
  const search = field('find', petField, found && 'sent' in found ? found.sent : { ...nothingSent, values });
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="/stock/export${format}" download>Download ${format}</a>`,
  );
  const content = markup`<h1>Stock</h1><div class="cards">
<section class="card"><h2>Find a pet</h2><form action="/stock">${search}<button class="quiet">Find</button></form>
${found && 'done' in found ? entryForm(site, found.done, refused?.sent ?? nothingSent) : ''}</section>
<section class="card"><h2>Import</h2>
<p>Each entry replaces the one of its pet, and no other. The whole file is checked first: with one wrong row, nothing is written.</p>
${form(site, '/stock/import', { button: 'Import', hasFile: true }, field('import', fileField, nothingSent))}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import reads.</p><p class="links">${links}</p></section></div>`;
  return show(c, site, { title: 'Stock', part: 'stock', failure }, content, refused ? 422 : 200);
}

async function findEntry({ target }: Site, text: string): Promise<StockVersion> {
  const { petId } = parseForm({ petId: text }, { petId: parsePetId });
  const found = await target.stock.find(petId);
  if (!found) throw new AdminError(`Pet ${petId} has no stock entry.`);
  return found;
}

function entryForm(site: Site, { entry, version }: StockVersion, sent: Sent): Html {
  const { petId, quantity, status } = entry;
  const fields = markup`<input type="hidden" name="petId" value="${petId}">
<input type="hidden" name="version" value="${version}">${field('set', quantityField, sent)}`;
  return markup`${facts({ Pet: petId, Quantity: number(quantity), Status: status })}
${form(site, '/stock', { button: 'Set the quantity' }, fields)}`;
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'pet-store-console-'));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });
const unseen = (): undefined => undefined;

async function importFile({ target }: Site, file: unknown): Promise<string> {
  if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
  const folder = newFolder();
  const path = join(folder, basename(file.name));
  try {
    writeFileSync(path, Buffer.from(await file.arrayBuffer()));
    const transfer = await importRecords(path, stockEntries, () => Promise.resolve(target), unseen);
    return imported(stockEntries, transfer, basename(path));
  } catch (error) {
    // The admin knows the file by its name alone.
    throw error instanceof AdminError ? new AdminError(error.message.replaceAll(`${folder}/`, '')) : error;
  } finally {
    remove(folder);
  }
}

async function download(c: Context, { target }: Site, name: string): Promise<Response> {
  const folder = newFolder();
  try {
    const path = join(folder, name);
    await exportInventory(path, () => Promise.resolve(target), unseen);
    const stream = createReadStream(path).once('close', () => remove(folder));
    c.header('Content-Disposition', `attachment; filename="${name}"`);
    c.header('Content-Type', name.endsWith('.csv') ? 'text/csv; charset=utf-8' : 'application/jsonl');
    return c.body(Readable.toWeb(stream));
  } catch (error) {
    remove(folder);
    throw error;
  }
}
