import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type Result, runChecks } from './check.ts';
import { EMPTY, readOnlyChecks, updatingChecks } from './checks.ts';
import { checkReachable, Service } from './service.ts';

/** `npm run smoke`: looks at a deployed service from outside, as its users do. */

interface SmokeOptions {
  readonly url: string;
  readonly key: string;
  readonly page?: string | false;
  readonly readOnly: boolean;
  readonly json: boolean;
}

/** Where the key may stand besides the command line, which other users of a machine can see. */
const KEY_VARIABLE = 'PET_STORE_API_KEY';

const marks = { passed: '✓', failed: '✗', skipped: '–' };

try {
  const options = parseSmokeOptions(process.argv.slice(2), process.env);
  if (options) {
    await checkReachable(options.url);
    process.exitCode = (await smoke(options)) ? 0 : 1;
  }
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  // A connection that is still being tried would hold the process up.
  process.stderr.write(`${reason.replaceAll('\n', ' ')}\n`, () => process.exit(1));
}

/** @returns whether no check failed */
async function smoke({ url, key, page, readOnly, json }: SmokeOptions): Promise<boolean> {
  const checks = [...readOnlyChecks, ...(readOnly ? [] : updatingChecks)];
  const results: Result[] = [];
  // Whatever a service may send back, the key is not shown.
  const print = (text: string): void => void process.stdout.write(`${text.replaceAll(key, '…')}\n`);
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
function untried(readOnly: boolean, results: readonly Result[]): string {
  const isEmpty = results.some(({ outcome, seen }) => outcome === 'skipped' && seen === EMPTY);
  const reason = readOnly ? 'only reading was allowed (--read-only)' : EMPTY;
  return readOnly || isEmpty ? `. No write was tried: ${reason}.` : '';
}

/**
 * Reads the command line of `npm run smoke`.
 *
 * @returns undefined for --help
 * @throws Error with one line on a bad option, without the key
 */
function parseSmokeOptions(args: readonly string[], env: NodeJS.ProcessEnv): SmokeOptions | undefined {
  const command = new Command('npm run smoke --')
    .description('Checks a deployed service from outside, with at most 30 requests. Its stock is as before afterwards.')
    .requiredOption('--url <url>', 'base address of the service, which ends in /v1', parseUrl)
    .option('--key <key>', `an API key; better in the environment variable ${KEY_VARIABLE}`)
    .option('--page <url>', 'address of the reference page; by default that of its links', parsePage)
    .option('--no-page', 'do not read the reference page')
    .option('--read-only', 'send no updates', false)
    .option('--json', 'print one JSON value, for scripts', false)
    .addHelpText('after', '\nExample:\n  npm run smoke -- --url https://api.example.com/v1 --read-only')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  try {
    const options = command.parse(args, { from: 'user' }).opts<Omit<SmokeOptions, 'key'> & { key?: string }>();
    return { ...options, key: checkKey(options.key ?? env[KEY_VARIABLE]) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    // Without the value of an option that is not known: it may be a mistyped --key.
    const message = error.message.replace(/^error: /, '').replace(/=[^']*'/, "'");
    throw new Error(`${message} (see npm run smoke -- --help)`, { cause: error });
  }
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

function checkKey(key: string | undefined): string {
  if (key === undefined || key === '') throw new Error(`An API key is missing: set ${KEY_VARIABLE}, or give --key.`);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Error('The API key has a character that no key has, such as a space.');
}
