import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { demoKey } from '../demo-keys.ts';
import { openApiDocument, openApiJson } from './document.ts';
import { type OpenApiOptions, parseOpenApiOptions } from './options.ts';

/** `npm run openapi`: writes the OpenAPI document. */

try {
  const options = parseOpenApiOptions(process.argv.slice(2));
  if (options) await write(options);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`npm run openapi: ${reason.replaceAll('\n', ' ')}\n`);
  process.exitCode = 1;
}

async function write({ server, stage, out }: OpenApiOptions): Promise<void> {
  const exampleKey = stage === 'local' ? { exampleKey: demoKey('free') } : {};
  const json = openApiJson(openApiDocument({ serverUrl: server, environment: stage, ...exampleKey }));
  const text = await format(json, { ...(await resolveConfig(import.meta.filename)), parser: 'json' });
  if (out === '-') process.stdout.write(text);
  else writeFileSync(out, text);
}
