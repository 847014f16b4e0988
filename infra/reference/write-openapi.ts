import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { format, resolveConfig } from 'prettier';
import { demoKey } from '../demo-keys.ts';
import { type Environment, environments, openApiDocument, openApiJson } from './document.ts';
import { withoutPageLinks } from './guide.ts';

/** `npm run openapi`: writes the OpenAPI document. */

interface Options {
  readonly server: string;
  readonly stage?: Environment;
  /** A file, or `-` for standard output. */
  readonly out: string;
}

const LOCAL = 'http://localhost:3000/v1';

const command = new Command('npm run openapi --')
  .description('Writes the OpenAPI document of the service.')
  .option('--server <url>', 'base address of the service, which ends in /v1', parseServer, LOCAL)
  .addOption(
    new Option('--stage <stage>', 'what runs there (default: local, or production with --server)').choices(
      environments,
    ),
  )
  .option('--out <file>', 'file to write, or - for standard output', 'docs/openapi.json')
  .addHelpText('after', '\nExample:\n  npm run openapi -- --server https://api.example.com/v1 --out -')
  .allowExcessArguments(false)
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (text) => complain(`${text.trim().replace(/^error: /, '')} (see npm run openapi -- --help)`),
  })
  .action(write);

try {
  await command.parseAsync();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function complain(reason: string): void {
  process.stderr.write(`npm run openapi: ${reason.replaceAll('\n', ' ')}\n`);
}

async function write({ server, stage = server === LOCAL ? 'local' : 'production', out }: Options): Promise<void> {
  const exampleKey = stage === 'local' ? demoKey('free') : undefined;
  const document = openApiDocument({ serverUrl: server, environment: stage, exampleKey });
  const json = withoutPageLinks(openApiJson(document));
  const text = await format(json, { ...(await resolveConfig(import.meta.filename)), parser: 'json' });
  if (out !== '-') writeFileSync(out, text);
  process.stdout.write(out === '-' ? text : `Wrote ${out}, for ${server}.\n`);
}

function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && ['http:', 'https:'].includes(url.protocol) && url.href === url.origin + url.pathname;
  if (isPlain && /\/v\d+\/?$/.test(url.pathname)) return url.href.replace(/\/$/, '');
  throw new InvalidArgumentError('It must be an address that ends in the version, such as https://api.example.com/v1.');
}
