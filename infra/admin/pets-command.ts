import { Command } from 'commander';
import { type PetRecord, petRecordSchema } from '../../shared/contract/pets.ts';
import { petItem } from '../table-items.ts';
import { importCommand } from './import/import-command.ts';
import type { RecordKind } from './import/record-kind.ts';

/** Pets, in files as the API shows them, but without a status. */
export const pets: RecordKind<PetRecord> = {
  names: ['pet', 'pets'],
  schema: petRecordSchema,
  formats: ['.jsonl'],
  formatReason: 'a pet has lists, so it takes a line of JSON each',
  idField: 'id',
  idOf: ({ id }) => id,
  foreignFields: new Map([['status', 'comes from the stock entry: leave it out, and load it with inventory import']]),
  tableOf: ({ petsTable }) => petsTable,
  toItem: petItem,
};

const EXAMPLE = {
  id: 101,
  category: { id: 1, name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: ['https://images.example.com/pets/101.jpg'],
  tags: [{ id: 1, name: 'family' }],
};

/** `pets …`. */
export function petsCommand(): Command {
  const fields = 'id, name, photoUrls, and where wanted category and tags';
  const importPets = importCommand(pets, fields).addHelpText(
    'after',
    `\nA line of the file:\n${JSON.stringify(EXAMPLE)}`,
  );
  return new Command('pets').description('pet records, from files').addCommand(importPets);
}
