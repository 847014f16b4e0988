import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import type { StageName } from '../../infra/stages.ts';
import { synthesizedOnce } from './synthesize-once.ts';

const templateSchema = v.looseObject({
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
});

/** A synthesized template, to change something in it. */
export type ChangeableTemplate = v.InferOutput<typeof templateSchema>;

const templateFile = (assembly: string, stage: StageName): string => {
  const folder = path.join(assembly, `assembly-${stage}`);
  const file = readdirSync(folder).find((name) => /^\w+Inventory[0-9A-F]{8}\.template\.json$/.test(name));
  if (file === undefined) throw new Error(`There is no template of ${stage}`);
  return path.join(folder, file);
};

/** The template of a stage's API as it was synthesized for all suites, for the caller alone. */
export function inventoryTemplate(stage: StageName): ChangeableTemplate {
  return v.parse(templateSchema, JSON.parse(readFileSync(templateFile(synthesizedOnce(), stage), 'utf8')));
}

const isTemplateOrManifest = (file: string): boolean => !path.basename(file).startsWith('asset.');

/** Writes the assembly of all suites to a folder, with another template of one stage's API. */
export function writeAssembly(folder: string, stage: StageName, template: ChangeableTemplate): void {
  cpSync(synthesizedOnce(), folder, { recursive: true, filter: isTemplateOrManifest });
  writeFileSync(templateFile(folder, stage), JSON.stringify(template));
}

/** The logical id of a table, such as `TablesStock190D1C2E` for `Stock`. */
export function tableId({ Resources }: ChangeableTemplate, name: string): string {
  const id = Object.keys(Resources).find((one) => new RegExp(`^Tables${name}[0-9A-F]{8}$`).test(one));
  if (id === undefined) throw new Error(`There is no table ${name}`);
  return id;
}
