import type { Context, Hono } from 'hono';
import { AdminError } from '../admin-error.ts';
import { recordsText } from '../records/export-records.ts';
import { importRecords } from '../records/import-records.ts';
import { fieldsOf, formatsOf, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../target.ts';
import { field, type Html, markup, nothingSent, type Sent } from './markup.ts';
import { onForm, type Site } from './site.ts';

/** `/stock/import` and `/stock/export`. @param show the page that they belong to */
export function addStockFiles(app: Hono, site: Site, show: (c: Context, sent: Sent) => Promise<Response>): void {
  app.get('/stock', (c) => show(c, nothingSent));
  onForm(
    app,
    '/stock/import',
    async (c) => site.redirect(c, '/stock', await importFile(site.target, (await c.req.parseBody())['file'])),
    show,
  );
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, async (c) => {
      // All of it first: where the store fails, a page says so.
      const text = (await Array.fromAsync(recordsText(site.target, stockEntries, format))).join('');
      c.header('Content-Disposition', `attachment; filename="stock${format}"`);
      c.header('Content-Type', format === '.csv' ? 'text/csv; charset=utf-8' : 'application/jsonl');
      return c.body(text);
    });
  }
}

async function importFile(target: Target, file: unknown): Promise<string> {
  if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
  const source = { name: file.name, open: () => piecesOf(file) };
  return (await importRecords(source, stockEntries, () => Promise.resolve(target))).message;
}

/** In small pieces: the rows of one are made all at once. */
async function* piecesOf(file: File, bytes = 8_192): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += bytes) yield file.slice(at, at + bytes).bytes();
}

const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with ${fieldsOf(stockEntries)}, of 1 MiB at most.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

export function fileCards(site: Site): Html {
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="stock/export${format}" download>Download ${format}</a>`,
  );
  const fields = [field('import', fileField, nothingSent)];
  return markup`<div class="cards"><section class="card"><h2>Import</h2>
<p>Each entry replaces the one of its pet, and no other. The whole file is checked first: with one wrong row, nothing is written.</p>
${site.form('/stock/import', markup`<button>Import</button>`, fields, markup`enctype="multipart/form-data"`)}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import reads.</p><p class="links">${links}</p></section></div>`;
}
