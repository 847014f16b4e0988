import * as v from 'valibot';
import { readAssembly } from '../../infra/local/assembly.ts';
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
