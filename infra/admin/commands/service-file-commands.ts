import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { exportAll, type Export } from '../service-file/export-all.ts';
import { importAll, type Import } from '../service-file/import-all.ts';
import type { Counts } from '../service-file/service-file.ts';
import { number, visible } from '../text-format.ts';
import { onService, report } from './options.ts';
import { unchanged, writtenOf } from './record-commands.ts';
import { table, withProgress } from './output.ts';

/** `stock 38, pets 12, orders 3, keys 6`. */
const countsText = (counts: Readonly<Counts>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${number(count)}`)
    .join(', ');

/** `export-all FILE`. */
export function exportAllCommand(): Command {
  const command = new Command('export-all')
    .description('writes stock, pets, orders and keys (hashes of tokens, never a token) to a file for import-all')
    .argument('<file>', 'JSON Lines file, for its owner alone; one that exists is replaced');
  return onService(command, async (find, _, file) => {
    const target = await find();
    const done = await withProgress({ doing: 'Reading', interrupted: unchanged(file) }, (show) =>
      exportAll(file, target, show),
    );
    const head = `Exported ${target.place} to ${visible(file)}: ${countsText(done.exported)}.`;
    return report({ ...done, file }, ({ leftOut }) => [head, ...leftOut.map(leftOutText)].join('\n'));
  });
}

const leftOutText = ({ id, name, reason }: Export['leftOut'][number]): string =>
  `Left out: the key ${name} (${id}) ${reason}.`;

/** `import-all FILE`. */
export function importAllCommand(): Command {
  const command = new Command('import-all')
    .description('adds what a file of export-all has, and the service has not; tokens work as they did there')
    .argument('<file>', 'file that export-all has written')
    .option('--keep-existing', 'leave what is there and differs as it is, instead of refusing the file', false);
  return onService<{ readonly keepExisting: boolean }>(command, async (find, { keepExisting }, file) => {
    const target = await find();
    const source = { name: file, open: () => createReadStream(file) };
    const interrupted = writtenOf({ names: ['record', 'records'] });
    const done = await withProgress({ doing: 'Writing', interrupted }, (show) =>
      importAll(source, target, keepExisting, show),
    );
    const head = `Imported ${visible(file)} into ${target.place}: ${countsText(done.imported)}.`;
    return report({ ...done, file }, (shown) => [head, ...presentText(shown), ...keysText(shown)].join('\n'));
  });
}

function presentText({ same, kept }: Import): string[] {
  const differing = kept === 0 ? [] : [`Already there, different, and left as they are: ${number(kept)}.`];
  return [...(same === 0 ? [] : [`Already there: ${number(same)}.`]), ...differing];
}

const keysText = ({ keys }: Import): string[] =>
  keys.length === 0
    ? []
    : [
        '',
        table(
          ['key', 'id there', 'id here'],
          keys.map(({ name, from, to }) => [name, from, to]),
        ),
      ];
