import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Command, InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { loadSampleData } from '../../infra/local/prepare-data.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { type Result, runChecks } from '../smoke/check.ts';
import { readOnlyChecks, updatingChecks } from '../smoke/checks.ts';
import { checkReachable, Service } from '../smoke/service.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import type { FuzzedRequest } from '../soak/fuzzed-requests.ts';
import { compare, comparedRequests, type Side } from './comparison.ts';
import { deployStaging, type Deployment } from './deployment.ts';
import { knownDifferences } from './known-differences.ts';

/** Characters of a request in the report. */
const MAX_SHOWN = 300;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  process.exitCode = (await witness(parseOptions())) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

interface Emulator {
  /** As known-differences.ts has it. */
  readonly name: string;
  readonly endpoint: string;
  /** The account that it stands in for. */
  readonly account: string;
}

function parseOptions(): Emulator {
  return new Command('npm run emulators --')
    .description(
      "Deploys staging to an emulator of AWS that runs already, and compares its responses with the local server's.",
    )
    .requiredOption('--name <name>', 'which emulator it is, such as ministack')
    .option('--endpoint <url>', 'its address', parseAddress, 'http://127.0.0.1:4566')
    .option('--account <id>', 'the account that it stands in for', '000000000000')
    .addHelpText('after', '\nExample:\n  npm run emulators -- --name ministack')
    .allowExcessArguments(false)
    .parse()
    .opts<Emulator>();
}

function parseAddress(text: string): string {
  if (URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be an address.');
}

/** Deploys staging to the emulator and compares it with the local server. @returns whether every difference is known */
async function witness({ name, endpoint, account }: Emulator): Promise<boolean> {
  await checkReachable(endpoint);
  const host = await LocalHost.start();
  const work = mkdtempSync(join(tmpdir(), 'pet-store-emulator-'));
  // All that speaks to AWS in this process, and what it starts, speaks to the emulator.
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'us-east-1',
    // An emulator of several accounts takes the key for the account, and the CDK keeps in mind which key is of which.
    AWS_ACCESS_KEY_ID: account,
    AWS_SECRET_ACCESS_KEY: 'none',
  });
  try {
    const deployment = await deployStaging(synthesizedOnce(), work, account);
    const { refused, resources } = deployment;
    print(`${name}: ${resources - refused.size} of ${resources} resources taken`);
    const refusals = [...new Set(refused.values())].map((reason) => `refused ${reason}`);
    const side = await sideOf(deployment, endpoint);
    const failures = await smoke(name, side);
    const { token } = await issueKey(host, { plan: 'business' });
    const differences = await compare({ url: host.baseUrl, token }, side);
    return report(name, [...refusals, ...failures], differences);
  } finally {
    rmSync(work, { recursive: true, force: true });
    await host.close();
  }
}

/** The API as it was deployed, with the sample stock and a key of the admin command. */
async function sideOf({ outputs }: Deployment, endpoint: string): Promise<Side> {
  const {
    ApiId,
    ApiStage,
    StockTableName: stock = '',
    PetsTableName: pets = '',
    OrdersTableName: orders = '',
  } = outputs;
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient(), { unmarshallOptions: { ...exactNumbers } });
  await loadSampleData(documents, { stock, pets, orders });
  const args = ['keys', 'create', '--stage', 'staging', '--plan', 'business', '--name', 'witness', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, ['infra/admin/main.ts', ...args], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(`The admin command cannot issue a key: ${stderr}`);
  const { key: token } = v.parse(v.looseObject({ key: v.string() }), JSON.parse(stdout));
  return { url: `${endpoint}/restapis/${ApiId}/${ApiStage}/_user_request_`, token };
}

/** @returns a line for each check that has failed */
async function smoke(name: string, { url, token }: Side): Promise<string[]> {
  const results: Result[] = [];
  for await (const result of runChecks(new Service(url, token), [...readOnlyChecks, ...updatingChecks]))
    results.push(result);
  const failed = results.filter(({ outcome }) => outcome !== 'passed');
  print(`${name}: ${results.length - failed.length} of ${results.length} checks of the smoke test passed`);
  return failed.map(({ name: check, seen }) => `smoke test: ${check}: ${seen}`);
}

/** Prints each difference with what AWS does. @returns whether all are known */
function report(
  name: string,
  faults: readonly string[],
  differences: ReadonlyMap<string, readonly FuzzedRequest[]>,
): boolean {
  const known = (line: string) => knownDifferences.find((entry) => entry.of.includes(name) && entry.line.test(line));
  for (const line of [...faults, ...differences.keys()]) {
    const { aws, source } = known(line) ?? {};
    const [first] = differences.get(line) ?? [];
    print(`\n${line}${first ? `, such as ${JSON.stringify(first).slice(0, MAX_SHOWN)}` : ''}`);
    print(aws === undefined ? '  UNKNOWN' : `  AWS: ${aws} (${source})`);
  }
  const lines = [...differences.keys()];
  const unknown = lines.filter((line) => !known(line));
  const requestsWith = (some: readonly string[]) => new Set(some.flatMap((line) => differences.get(line) ?? [])).size;
  const [all, different, otherwise] = [comparedRequests().length, requestsWith(lines), requestsWith(unknown)];
  print(`\n${name}: of ${all} requests ${all - different} returned the same as the local server,`);
  print(`  ${different - otherwise} but for known differences, ${otherwise} otherwise`);
  return unknown.length === 0 && faults.every(known);
}
