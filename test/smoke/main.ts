import { Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../../shared/log.ts';
import { type Result, runChecks } from './check.ts';
import { EMPTY, readOnlyChecks, updatingChecks } from './checks.ts';
import { checkReachable, Service } from './service.ts';

/** `npm run smoke`: looks at a deployed service from outside, as its users do. */

interface SmokeOptions {
  readonly url: string;
  readonly page?: string | false;
  readonly readOnly?: true;
  readonly json?: true;
}

/** Not an option: other users of a machine can see the command line. */
const KEY_VARIABLE = 'PET_STORE_API_KEY';
const key = process.env[KEY_VARIABLE] ?? '';

/** Whatever a service may send back, the key is not shown. */
const print = (text: string): void => void process.stdout.write(`${text.replaceAll(key, '…')}\n`);
const marks = { passed: '✓', failed: '✗', skipped: '–' };

const command = new Command('npm run smoke --')
  .description(
    `Checks a deployed service from outside, with at most 30 requests and the API key in the environment variable ${KEY_VARIABLE}. Its stock is as before afterwards.`,
  )
  .requiredOption('--url <url>', 'base address of the service, which ends in /v1', parseUrl)
  .option('--page <url>', 'address of the reference page; by default that of its links', parsePage)
  .option('--no-page', 'do not read the reference page')
  .option('--read-only', 'send no updates')
  .option('--json', 'print one JSON value, for scripts')
  .addHelpText('after', '\nExample:\n  npm run smoke -- --url https://api.example.com/v1 --read-only')
  .allowExcessArguments(false)
  .showSuggestionAfterError(false)
  // One line, without the value of an option that is not known: it may be a key.
  .configureOutput({ outputError: (text, write) => write(text.replace(/=[^']*'/, "'").replaceAll(/\n(?!$)/g, ' ')) })
  .action(async (options: SmokeOptions) => {
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new Error(`${KEY_VARIABLE} must be an API key: it is ${key === '' ? 'missing' : 'no key'}.`);
    await checkReachable(options.url);
    process.exitCode = (await smoke(options)) ? 0 : 1;
  });

await command.parseAsync().catch((error: unknown) => command.error(messageOf(error)));

async function smoke({ url, page, readOnly, json }: SmokeOptions): Promise<boolean> {
  const checks = [...readOnlyChecks, ...(readOnly ? [] : updatingChecks)];
  const results: Result[] = [];
  for await (const result of runChecks(new Service(url, key, page), checks)) {
    results.push(result);
    if (!json) print(`${marks[result.outcome]} ${result.name}: ${result.seen}`);
  }
  const count = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  if (json) print(JSON.stringify({ url, passed, failed, skipped, checks: results }));
  else print(`\n${url}: ${passed} passed, ${failed} failed, ${skipped} skipped${untried(readOnly, results)}`);
  const faults = results.filter(({ outcome }) => outcome === 'failed').map(({ seen }) => seen);
  if (!json && failed > 0) print(`Failed: ${faults.join('; ')}`);
  return failed === 0;
}

/** Says of a run without a write that it shows nothing of writes. */
function untried(readOnly: true | undefined, results: readonly Result[]): string {
  const isEmpty = results.some(({ outcome, seen }) => outcome === 'skipped' && seen === EMPTY);
  const reason = readOnly ? 'only reading was allowed (--read-only)' : EMPTY;
  return readOnly || isEmpty ? `. No write was tried: ${reason}.` : '';
}

function parseUrl(text: string): string {
  const { protocol, origin, pathname, href } = URL.canParse(text) ? new URL(text) : new URL('about:blank');
  const isHttp = protocol === 'http:' || protocol === 'https:';
  const address = href.replace(/\/+$/, '');
  if (isHttp && href === origin + pathname && address.endsWith('/v1')) return address;
  throw new InvalidArgumentError('It must be an address that ends in the version, such as https://api.example.com/v1.');
}

function parsePage(text: string): string {
  const { protocol, origin, href } = URL.canParse(text) ? new URL(text) : new URL('about:blank');
  if (protocol.startsWith('http') && href === `${origin}/`) return origin;
  throw new InvalidArgumentError('It must be an address without a path, such as https://docs.example.com.');
}
