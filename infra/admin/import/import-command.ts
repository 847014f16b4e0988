import { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { number, print } from '../output.ts';
import { findTarget } from '../target.ts';
import { importRecords } from './import-records.ts';
import { formatsOf, type RecordKind } from './record-kind.ts';

/** `… import FILE`, for records of a kind. @param content what the file has, for the help */
export function importCommand<Entry>(kind: RecordKind<Entry>, content: string): Command {
  const [one, several] = kind.names;
  return withCommonOptions(new Command('import'))
    .description(`loads ${several} from a file; each replaces the one with its ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${content}`)
    .action(async (file: string, options: CommonOptions) => {
      const { count, place } = await importRecords(file, kind, () => findTarget(options));
      const what = `${number(count)} ${count === 1 ? one : several}`;
      print(options, { imported: count, file }, () => `Imported ${what} from ${file} into ${place}.`);
    });
}
