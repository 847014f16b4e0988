import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import * as v from 'valibot';
import { ReleaseError } from './release-error.ts';
import { runCommand } from './run-command.ts';

/** `npm run sbom`: the packages that the service is made with, as a CycloneDX document. */

const bomSchema = v.looseObject({
  bomFormat: v.literal('CycloneDX'),
  metadata: v.looseObject({ component: v.looseObject({ name: v.string() }) }),
  components: v.array(v.looseObject({ name: v.string(), version: v.string() })),
});

const packageSchema = v.object({ name: v.string() });

await runCommand(
  new Command('npm run sbom --')
    .description('Writes the packages that are installed, with their versions, to a CycloneDX document (JSON).')
    .option('--out <file>', 'where it goes', 'sbom.cdx.json')
    .action(writeSbom),
);

function writeSbom({ out }: { readonly out: string }): void {
  const bom = npmSbom();
  // npm calls the project after its folder.
  bom.metadata.component.name = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8'))).name;
  writeFileSync(out, `${JSON.stringify(bom, undefined, 2)}\n`);
  process.stdout.write(`Wrote ${bom.components.length} packages to ${out}\n`);
}

function npmSbom(): v.InferOutput<typeof bomSchema> {
  const { error, status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw new ReleaseError(`npm cannot be run: ${error.message}.`);
  if (status !== 0) throw new ReleaseError(`npm sbom has failed: ${stderr.replaceAll(/\s+/g, ' ').trim()}`);
  return v.parse(bomSchema, JSON.parse(stdout));
}
