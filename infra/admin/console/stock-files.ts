import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { AdminError } from '../service/failures.ts';
import { recordsText } from '../records/export-records.ts';
import { countsText, type ImportPreview, previewImport } from '../records/import-records.ts';
import { fieldsOf, formatsOf, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../service/target.ts';
import { field, hidden, type Html, markup, nothingSent, type Sent } from './markup.ts';
import { onForm, type Site } from './site.ts';

/** `/stock/import` and `/stock/export`. @param show renders the page of both */
export function addStockFiles(app: Hono, site: Site, show: (c: Context, sent: Sent) => Promise<Response>): void {
  app.get('/stock', (c) => show(c, nothingSent));
  // A reload of the response to a form.
  app.get('/stock/import', (c) => c.redirect(`${site.base}/stock`));
  let shown: { readonly id: string; readonly preview: ImportPreview } | undefined;
  const work = async (c: Context, { confirmed }: Sent['values']): Promise<Response> => {
    if (confirmed === undefined) {
      const preview = await previewOf(site.target, (await c.req.parseBody())['file']);
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
  onForm(app, '/stock/import', work, show);
  for (const format of stockEntries.formats) {
    app.get(`/stock/export${format}`, async (c) => {
      // Read completely first, so that a failure of the store is shown as a page.
      const text = (await Array.fromAsync(recordsText(site.target, stockEntries, format))).join('');
      c.header('Content-Disposition', `attachment; filename="stock${format}"`);
      c.header('Content-Type', format === '.csv' ? 'text/csv; charset=utf-8' : 'application/jsonl');
      return c.body(text);
    });
  }
}

function previewOf(target: Target, file: unknown): Promise<ImportPreview> {
  if (!(file instanceof File) || file.name === '') throw new AdminError('Choose a file. Nothing was written.');
  const source = { name: file.name, open: () => piecesOf(file) };
  return previewImport(source, stockEntries, () => Promise.resolve(target));
}

/** Confirmation page: the changes of an import. */
function question(site: Site, id: string, { counts, largest }: ImportPreview): Html {
  const list = markup`<h2>Largest changes</h2><ul>${largest.map((line) => markup`<li>${line}</li>`)}</ul>`;
  const button = markup`<button class="danger">Import</button>`;
  const hasChanges = counts.added + counts.changed > 0;
  return markup`<h1>Import?</h1><section class="card narrow"><p>${countsText(counts)}</p>
${largest.length > 0 ? list : ''}${hasChanges ? site.form('/stock/import', button, hidden({ confirmed: id })) : ''}
<p><a href="stock">Cancel</a></p></section>`;
}

/** In small pieces: the rows of a piece are parsed together. */
async function* piecesOf(file: File, bytes = 8_192): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += bytes) yield file.slice(at, at + bytes).bytes();
}

const fileField = {
  name: 'file',
  label: 'File',
  type: 'file',
  hint: `A ${formatsOf(stockEntries)} file with ${fieldsOf(stockEntries)}, 1 MiB at most.`,
  attributes: markup`accept="${stockEntries.formats.join(',')}" required`,
} as const;

export function fileCards(site: Site): Html {
  const links = stockEntries.formats.map(
    (format) => markup`<a class="button" href="stock/export${format}" download>Download ${format}</a>`,
  );
  const fields = [field('import', fileField, nothingSent)];
  return markup`<div class="cards"><section class="card"><h2>Import</h2>
<p>Each row replaces the stock entry of its pet; other entries stay. One invalid row rejects the whole file. You confirm the changes before they are written.</p>
${site.form('/stock/import', markup`<button>Import</button>`, fields, markup`enctype="multipart/form-data"`)}</section>
<section class="card"><h2>Export</h2><p>All stock entries, in a file that the import accepts.</p><p class="links">${links}</p></section></div>`;
}
