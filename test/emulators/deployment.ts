import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { stackNameOf, stages } from '../../infra/stages.ts';

/** A custom resource whose function never responds would be waited for an hour. */
const TIMEOUT_MS = 15 * 60_000;
/** Characters of the output of a command that failed. */
const MAX_SHOWN = 3_000;

const root = join(import.meta.dirname, '../..');
const templateSchema = v.object({ Resources: v.record(v.string(), v.object({ Type: v.string() })) });
const outputsSchema = v.record(v.string(), v.record(v.string(), v.string()));

/**
 * Deploys staging by the CDK's own command, as synthesized but for some types.
 *
 * @param app directory of the assembly, which is changed
 * @param unsupported types that the emulator does not create
 * @returns the outputs by name
 */
export function deployStaging(app: string, unsupported: ReadonlySet<string>): Readonly<Record<string, string>> {
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
export async function removeStaging(): Promise<void> {
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
