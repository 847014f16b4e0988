import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient, DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Command } from 'commander';
import * as v from 'valibot';
import { loadSampleData } from '../../infra/local/prepare-data.ts';
import { stackNameOf, stages } from '../../infra/stages.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { runChecks } from '../smoke/check.ts';
import { readOnlyChecks, updatingChecks } from '../smoke/checks.ts';
import { checkReachable, Service } from '../smoke/service.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { knownFaults } from './known-faults.ts';

/** A custom resource whose function never responds would be waited for an hour. */
const TIMEOUT_MS = 15 * 60_000;
/** Characters of the output of a command that failed. */
const MAX_SHOWN = 3_000;

const root = join(import.meta.dirname, '../..');
const templateSchema = v.object({ Resources: v.record(v.string(), v.object({ Type: v.string() })) });
const outputsSchema = v.record(v.string(), v.record(v.string(), v.string()));

const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  process.exitCode = (await tryStaging(parseOptions().endpoint)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function parseOptions(): { readonly endpoint: string } {
  return new Command('npm run emulators --')
    .description(
      'Deploys staging to a running MiniStack, an emulator of AWS, tests it as after a deployment, removes it.',
    )
    .option('--endpoint <url>', 'address of the emulator', 'http://127.0.0.1:4566')
    .addHelpText('after', '\nExample:\n  npm run emulators -- --endpoint http://127.0.0.1:4566')
    .allowExcessArguments(false)
    .parse()
    .opts();
}

/** @returns whether only known checks fail */
async function tryStaging(endpoint: string): Promise<boolean> {
  await checkReachable(endpoint);
  // No profile or endpoint of the machine: all that calls AWS in this process, and what it starts, calls the emulator.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  // The emulator takes this key for its account.
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: '000000000000',
    AWS_SECRET_ACCESS_KEY: 'none',
  });
  const app = mkdtempSync(join(tmpdir(), 'pet-store-emulator-'));
  try {
    cpSync(synthesizedOnce(), app, { recursive: true });
    const outputs = deployStaging(app, new Set(knownFaults.flatMap(({ types = [] }) => types)));
    print('Staging is deployed.');
    const isAsKnown = await smoke(await serviceOf(outputs, endpoint));
    await removeStaging();
    print('Staging is removed.');
    return isAsKnown;
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}

/** The deployed API, with the sample stock and a key of the admin command. */
async function serviceOf(outputs: Readonly<Record<string, string>>, endpoint: string): Promise<Service> {
  const { ApiId, ApiStage, StockTableName: stock = '', PetsTableName: pets = '' } = outputs;
  const { OrdersTableName: orders = '' } = outputs;
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient(), { unmarshallOptions: { ...exactNumbers } });
  await loadSampleData(documents, { stock, pets, orders });
  const args = ['keys', 'create', '--stage', 'staging', '--plan', 'business', '--name', 'emulator', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, ['infra/admin/main.ts', ...args], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(`The admin command cannot issue a key: ${stderr}`);
  const { token } = v.parse(v.looseObject({ token: v.string() }), JSON.parse(stdout));
  return new Service(`${endpoint}/restapis/${ApiId}/${ApiStage}/_user_request_`, token);
}

/** Prints how each check came out. @returns whether all that do not pass are known */
async function smoke(service: Service): Promise<boolean> {
  const known = new Set(knownFaults.flatMap(({ checks = [] }) => checks));
  const unknown: string[] = [];
  for await (const { name, outcome, seen } of runChecks(service, [...readOnlyChecks, ...updatingChecks])) {
    print(`${outcome}${known.has(name) ? ' (known to fail)' : ''}: ${name}: ${seen}`);
    if (outcome !== 'passed' && !known.has(name)) unknown.push(name);
  }
  if (unknown.length > 0) print(`\nNot known to fail on this emulator: ${unknown.join('; ')}`);
  return unknown.length === 0;
}

/**
 * Deploys staging by the CDK's own command, as synthesized but for some types.
 *
 * @param app directory of the assembly, which is changed
 * @param unsupported types that the emulator does not create
 * @returns the outputs by name
 */
function deployStaging(app: string, unsupported: ReadonlySet<string>): Readonly<Record<string, string>> {
  const { qualifier } = stages.staging;
  for (const file of globSync(join(app, 'assembly-staging/*.template.json')))
    writeFileSync(file, withoutTypes(readFileSync(file, 'utf8'), unsupported));
  runCdk(['bootstrap', '--app', app, '--qualifier', qualifier, '--toolkit-stack-name', `CDKToolkit-${qualifier}`]);
  const outputs = join(app, 'outputs.json');
  const options = '--require-approval never --progress events --method direct --outputs-file'.split(' ');
  runCdk(['deploy', 'staging/*', '--app', app, ...options, outputs]);
  const byStack = v.parse(outputsSchema, JSON.parse(readFileSync(outputs, 'utf8')));
  return Object.assign({}, ...Object.values(byStack));
}

/** As `cdk destroy`, which names the stack by an id that the emulator does not know. @throws Error if it remains */
async function removeStaging(): Promise<void> {
  const client = new CloudFormationClient();
  const StackName = stackNameOf('staging');
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, maxWaitTime: 300, minDelay: 1, maxDelay: 2 }, { StackName });
}

/** Puts CloudFormation's emptiest resource in the place of those types. It has a Ref, but no attributes. */
function withoutTypes(template: string, types: ReadonlySet<string>): string {
  const { Resources } = v.parse(templateSchema, JSON.parse(template));
  const ids = new Set(Object.keys(Resources).filter((id) => types.has(Resources[id]?.Type ?? '')));
  const replaced: unknown = JSON.parse(template, (name, value: unknown) => {
    const { Type, 'Fn::GetAtt': attribute } = Object(value);
    if (ids.has(name) && Type !== undefined) return { Type: 'AWS::CloudFormation::WaitConditionHandle' };
    const [of] = [attribute].flat();
    return ids.has(of) ? { Ref: of } : value;
  });
  return JSON.stringify(replaced);
}

function runCdk(args: readonly string[]): void {
  const bin = join(root, 'node_modules/aws-cdk/bin/cdk');
  const options = { cwd: root, encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [bin, ...args, '--no-color'], options);
  if (status === 0) return;
  const reason = error ? `did not end within ${TIMEOUT_MS / 60_000} minutes` : 'failed';
  throw new Error(`cdk ${args[0]} ${reason}: ${`${stdout}\n${stderr}`.slice(-MAX_SHOWN)}`, { cause: error });
}
