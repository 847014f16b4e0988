import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { readAssembly } from '../../infra/local/assembly.ts';
import type { StageName } from '../../infra/stages.ts';
import { synthesizedOnce } from './synthesize-once.ts';

const templateSchema = v.looseObject({
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
});

/** A template that a test may change. */
export type EditableTemplate = v.InferOutput<typeof templateSchema>;
export type EditableResource = EditableTemplate['Resources'][string];

/** The synthesized template of the service, for tests that run it or break it. */
export class ServiceTemplate {
  readonly stackName: string;
  readonly #text: string;

  constructor() {
    const { name, template } = readAssembly(synthesizedOnce());
    this.stackName = name;
    this.#text = JSON.stringify(template);
  }

  /** The template with one change. */
  with(change: (template: EditableTemplate) => void): EditableTemplate {
    const template = v.parse(templateSchema, JSON.parse(this.#text));
    change(template);
    return template;
  }

  /** The template as it is deployed. */
  get unchanged(): EditableTemplate {
    return this.with(() => undefined);
  }
}

/** The first resource of a type, by its logical id where the template has several. */
export function resourceOf({ Resources }: EditableTemplate, type: string, id = ''): [string, EditableResource] {
  const found = Object.entries(Resources).find(([name, { Type }]) => Type === type && name.startsWith(id));
  if (!found) throw new Error(`The template has no ${type} ${id}`);
  return found;
}

const templateFile = (assembly: string, stage: StageName): string => {
  const folder = path.join(assembly, `assembly-${stage}`);
  const file = readdirSync(folder).find((name) => /^\w+Inventory[0-9A-F]{8}\.template\.json$/.test(name));
  if (file === undefined) throw new Error(`There is no template of ${stage}`);
  return path.join(folder, file);
};

/** The template of a stage's API as it was synthesized for all suites, for the caller alone. */
export function inventoryTemplate(stage: StageName): EditableTemplate {
  return v.parse(templateSchema, JSON.parse(readFileSync(templateFile(synthesizedOnce(), stage), 'utf8')));
}

const isTemplateOrManifest = (file: string): boolean => !path.basename(file).startsWith('asset.');

/** Writes the assembly of all suites to a folder, with another template of one stage's API. */
export function writeAssembly(folder: string, stage: StageName, template: EditableTemplate): void {
  cpSync(synthesizedOnce(), folder, { recursive: true, filter: isTemplateOrManifest });
  writeFileSync(templateFile(folder, stage), JSON.stringify(template));
}

/** The logical id of a table, such as `TablesStock190D1C2E` for `Stock`. */
export function tableId({ Resources }: EditableTemplate, name: string): string {
  const id = Object.keys(Resources).find((one) => new RegExp(`^Tables${name}[0-9A-F]{8}$`).test(one));
  if (id === undefined) throw new Error(`There is no table ${name}`);
  return id;
}
