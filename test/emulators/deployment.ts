import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { stages } from '../../infra/stages.ts';

/** Deploys until nothing more is refused, at most so often. */
const MAX_ROUNDS = 25;
/** A custom resource whose function never answers would be waited for an hour. */
const ROUND_TIMEOUT_MS = 600_000;

const root = join(import.meta.dirname, '../..');
const templateSchema = v.looseObject({ Resources: v.record(v.string(), v.looseObject({ Type: v.string() })) });
type Resources = v.InferOutput<typeof templateSchema>['Resources'];

export interface Deployment {
  readonly resources: number;
  /** What the emulator did not take, by logical id: its type, and why. */
  readonly refused: ReadonlyMap<string, string>;
  /** By name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * Deploys staging by the CDK's own command. What the emulator refuses is made an empty resource and tried again
 * without, to compare the rest; all else is as synthesized.
 *
 * @param assembly as synthesized
 * @param work folder for the copy that is deployed
 */
export async function deployStaging(assembly: string, work: string, account: string): Promise<Deployment> {
  const { qualifier } = stages.staging;
  const environment = `aws://${account}/${process.env['AWS_REGION'] ?? ''}`;
  const toolkit = `--qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`;
  const bootstrap = runCdk(['bootstrap', environment, '--app', assembly, ...toolkit.split(' ')]);
  if (bootstrap.status !== 0) throw new Error(`cdk bootstrap has failed: ${bootstrap.text.slice(-2_000)}`);
  const refused = new Map<string, string>();
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const resources = copyWithout(refused, assembly, work, round);
    const outputsFile = join(work, 'outputs.json');
    const options = '--require-approval never --method direct --progress events --outputs-file'.split(' ');
    const { status, text } = runCdk(['deploy', 'staging/*', '--app', work, ...options, outputsFile]);
    if (status === 0) return { resources: Object.keys(resources).length, refused, outputs: outputsIn(outputsFile) };
    const failures = [...text.matchAll(/^(\S+) \|.*\| CREATE_FAILED +\| (\S+) +\| \S+ \((\w+)\) ?(.*)$/gm)];
    if (failures.length === 0)
      throw new Error(`cdk deploy has failed, without a resource that was refused: ${text.slice(-2_000)}`);
    for (const [, stack = '', type = '', id = '', reason = ''] of failures) {
      await deleteStack(stack);
      const isType = reason.startsWith('Unsupported resource type');
      const ids = isType ? Object.keys(resources).filter((name) => resources[name]?.Type === type) : [id];
      for (const name of ids) refused.set(name, `${type}: ${reason}`);
    }
  }
  throw new Error(`After ${MAX_ROUNDS} deploys resources are still refused`);
}

/** Copies the assembly. @returns all resources of staging, as they were synthesized */
function copyWithout(refused: ReadonlyMap<string, string>, assembly: string, work: string, round: number): Resources {
  cpSync(assembly, work, { recursive: true, force: true });
  const all: Resources = {};
  for (const file of globSync(join(work, 'assembly-staging/*.template.json'))) {
    const template = v.parse(templateSchema, JSON.parse(readFileSync(file, 'utf8')));
    Object.assign(all, template.Resources);
    writeFileSync(file, JSON.stringify(withEmpty(template, refused)));
  }
  // A template that is published already, by the name that its content had, is not published again.
  for (const file of globSync(join(work, 'assembly-staging/{manifest,*.assets}.json')))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/([0-9a-f]{64})\.json/g, `$1-${round}.json`));
  return all;
}

/** Puts CloudFormation's emptiest resource in the place of those that were refused. It has a Ref, but no attributes. */
function withEmpty(part: unknown, refused: ReadonlyMap<string, string>): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => withEmpty(item, refused));
  const { 'Fn::GetAtt': attribute } = v.parse(v.looseObject({ 'Fn::GetAtt': v.optional(v.unknown()) }), part);
  const [of] = Array.isArray(attribute) ? attribute.map(String) : [];
  if (of !== undefined && refused.has(of)) return { Ref: of };
  const entries = Object.entries(part).map(([name, item]) => [
    name,
    refused.has(name) && Object(item).Type !== undefined
      ? { Type: 'AWS::CloudFormation::WaitConditionHandle' }
      : withEmpty(item, refused),
  ]);
  return Object.fromEntries(entries);
}

/** A stack whose creation has failed cannot be deployed over. */
async function deleteStack(StackName: string): Promise<void> {
  const client = new CloudFormationClient();
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, maxWaitTime: 120, minDelay: 1, maxDelay: 2 }, { StackName });
}

function outputsIn(file: string): Readonly<Record<string, string>> {
  const byStack = v.parse(
    v.record(v.string(), v.record(v.string(), v.string())),
    JSON.parse(readFileSync(file, 'utf8')),
  );
  return Object.assign({}, ...Object.values(byStack));
}

function runCdk(args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const bin = join(root, 'node_modules/aws-cdk/bin/cdk');
  const options = { cwd: root, encoding: 'utf8', timeout: ROUND_TIMEOUT_MS, maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [bin, ...args, '--no-color'], options);
  if (error)
    throw new Error(`cdk ${args[0]} did not end within ${ROUND_TIMEOUT_MS / 60_000} minutes`, { cause: error });
  return { status, text: `${stdout}\n${stderr}` };
}
