import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { parse } from 'yaml';

const DIRECTORY = '.github/workflows';

const stepSchema = v.looseObject({
  name: v.optional(v.string()),
  uses: v.optional(v.string()),
  run: v.optional(v.string()),
  if: v.optional(v.string()),
  with: v.optional(v.record(v.string(), v.unknown()), {}),
  env: v.optional(v.record(v.string(), v.unknown()), {}),
});
const jobSchema = v.looseObject({
  uses: v.optional(v.string()),
  needs: v.optional(v.union([v.string(), v.array(v.string())])),
  environment: v.optional(v.string()),
  concurrency: v.optional(v.object({ group: v.string(), 'cancel-in-progress': v.union([v.boolean(), v.string()]) })),
  permissions: v.record(v.string(), v.string()),
  with: v.optional(v.record(v.string(), v.unknown()), {}),
  steps: v.optional(v.array(stepSchema), []),
});
const workflowSchema = v.looseObject({
  on: v.record(v.string(), v.unknown()),
  permissions: v.strictObject({}),
  defaults: v.object({ run: v.object({ shell: v.literal('bash') }) }),
  jobs: v.record(v.string(), jobSchema),
});

type Workflow = v.InferOutput<typeof workflowSchema>;

/** The text of each workflow, by the name of its file. */
export const texts = new Map(
  readdirSync(DIRECTORY).map((file) => [file, readFileSync(path.join(DIRECTORY, file), 'utf8')]),
);
const workflows = new Map([...texts].map(([file, text]) => [file, v.parse(workflowSchema, parse(text))]));

export function workflow(file: string): Workflow {
  const found = workflows.get(file);
  if (!found) throw new Error(`There is no workflow ${file}`);
  return found;
}

/** All jobs, each with its place, such as `deploy.yml: build`. */
export const jobs = [...workflows].flatMap(([file, { jobs: all }]) =>
  Object.entries(all).map(([name, job]) => ({ at: `${file}: ${name}`, job })),
);
export const steps = jobs.flatMap(({ at, job }) => job.steps.map((step) => ({ at, step })));
export const scripts = steps.flatMap(({ at, step }) => (step.run === undefined ? [] : [{ at, script: step.run }]));
