import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentTypeOf, type PageFile } from './page-file.ts';
import { htmlNameOf, RUNBOOK_FOLDER, runbookHtml } from './runbook-html.ts';

const folder = join(import.meta.dirname, '../..', RUNBOOK_FOLDER);

/** The runbooks as files of the page, below `runbooks/`: where the links of the alarms lead to. */
export function runbookPages(assets: string): [path: string, file: PageFile][] {
  return readdirSync(folder)
    .toSorted()
    .map((name): [string, PageFile] => {
      const path = `runbooks/${htmlNameOf(name)}`;
      const read = (): Buffer =>
        Buffer.from(runbookHtml({ assets, name, markdown: readFileSync(join(folder, name), 'utf8') }));
      return [path, { contentType: contentTypeOf(path), immutable: false, read }];
    });
}
