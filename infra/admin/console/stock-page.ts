import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { errorCatalogue, ServiceError } from '../../../shared/contract/errors.ts';
import { type Int64, integerOrText, isInt64 } from '../../../shared/contract/int64.ts';
import { petStatusSchema, quantitySchema } from '../../../shared/contract/inventory.ts';
import type { PetStatus } from '../../../shared/contract/records.ts';
import type { StockVersion } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../admin-error.ts';
import { recordsText } from '../records/export-records.ts';
import { importRecords } from '../records/import-records.ts';
import { formatsOf, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../target.ts';
import { number } from '../text-format.ts';
import { MAX_FORM_BYTES } from './guard.ts';
import { field, markup, nothingSent } from './markup.ts';
import type { Query } from './row-pages.ts';
import { onForm, parseForm, type Site, type Texts } from './site.ts';
import { stockTable } from './stock-table.ts';

/** `/stock`: the stock of all pets, and files of it. */
export function addStockPage(app: Hono, site: Site): void {
  const { target } = site;
  app.get('/stock', (c) => showStock(c, site, c.req.query()));
  onForm(
    app,
    '/stock',
    async (c, values) => {
      const { petId, quantity, status } = await setStock(target, values);
      const note = `Pet ${petId} is ${status}, with ${number(quantity)} in stock.`;
      return site.redirect(c, `/stock?${values['view']}`, note);
    },
    (c, sent) => showStock(c, site, Object.fromEntries(new URLSearchParams(sent.values['view'])), sent),
  );
  onForm(
    app,
    '/stock/import',
    async (c) => site.redirect(c, '/stock', await importFile(target, (await c.req.parseBody())['file'])),
    (c, { failure }) => showStock(c, site, {}, { ...nothingSent, failure }),
  );
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, async (c) => {
      // All of it first: where the store fails, a page says so.
      const text = (await Array.fromAsync(recordsText(target, stockEntries, format))).join('');
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
  const quantity = v.safeParse(quantitySchema, integerOrText(text));
  if (quantity.success) return quantity.output;
  throw new InvalidArgumentError(`It ${quantity.issues[0].message}.`);
}

function parseStatus(text: string): PetStatus {
  const status = v.safeParse(petStatusSchema, text);
  if (status.success) return status.output;
  throw new InvalidArgumentError(`It ${status.issues[0].message}.`);
}

/** As the API does with `If-Match`: only if the entry was not changed since it was shown. */
async function setStock({ stock }: Target, values: Texts): Promise<StockVersion['entry']> {
  const parsers = { petId: parsePetId, quantity: parseQuantity, status: parseStatus };
  const change = { ...parseForm(values, parsers), versions: [values['version'] ?? ''] };
  try {
    return (await stock.change(change)).entry;
  } catch (error) {
    const found =
      error instanceof ServiceError && error.code === 'PRECONDITION_FAILED'
        ? await stock.find(change.petId)
        : undefined;
    if (!found) throw error;
    const { petId, quantity, status } = found.entry;
    throw new AdminError(
      `Pet ${petId} was changed since it was shown, so nothing was set: it is ${status} now, with ${number(quantity)} in stock.`,
    );
  }
}

async function importFile(target: Target, file: unknown): Promise<string> {
  if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
  const source = { name: file.name, open: () => piecesOf(file) };
  return (await importRecords(source, stockEntries, () => Promise.resolve(target))).message;
}

/** In small pieces: the rows of one are made all at once, and other pages are answered between two. */
async function* piecesOf(file: File): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    await nextTurn();
    yield file.slice(at, at + PIECE_BYTES).bytes();
  }
}

const PIECE_BYTES = 8_192;

const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with petId, quantity and status, of ${MAX_FORM_BYTES / 2 ** 20} MiB at most.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

async function showStock(c: Context, site: Site, query: Query, sent = nothingSent): Promise<Response> {
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="stock/export${format}" download>Download ${format}</a>`,
  );
  const fields = [field('import', fileField, nothingSent)];
  const content = markup`<h1>Stock</h1>${await stockTable(site, query, sent)}<div class="cards">
<section class="card"><h2>Import</h2>
<p>Each entry replaces the one of its pet, and no other. The whole file is checked first: with one wrong row, nothing is written.</p>
${site.form('/stock/import', markup`<button>Import</button>`, fields, markup`enctype="multipart/form-data"`)}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import reads.</p><p class="links">${links}</p></section></div>`;
  return site.show(c, { title: 'Stock', part: 'stock', failure: sent.failure }, content);
}
