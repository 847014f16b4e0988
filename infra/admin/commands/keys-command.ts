import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import { agreedLimits } from '../keys/agreed-limits.ts';
import { createKey } from '../keys/create-key.ts';
import { listKeys, showKey } from '../keys/list-keys.ts';
import { moveKey } from '../keys/move-key.ts';
import { type DoomedKey, findDoomedKey, revokeKey } from '../keys/revoke-key.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import { findTarget } from '../target.ts';
import { describeKey, describeNewKey, describeSync, keyTable } from './key-texts.ts';
import {
  type CommonOptions,
  limitOptions,
  parseDuration,
  parseFutureTime,
  parseName,
  planOption,
  withCommonOptions,
} from './options.ts';
import { notices, number, print, styled, time } from './output.ts';

type Options<Own = object> = CommonOptions & Own;
type PlanOptions = Options<{ readonly plan: PlanId; readonly perMinute?: number; readonly perDay?: number }>;

/** `keys …`. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys: who may call, on which plan');
  addCreate(keys);
  addListAndShow(keys);
  addMove(keys);
  addRotate(keys);
  addSuspendAndResume(keys);
  addRevoke(keys);
  addSync(keys);
  return keys;
}

function addCreate(keys: Command): void {
  const create = keys
    .command('create')
    .description('issues a key and shows it, this once')
    .requiredOption('--name <name>', 'whose key it is; several may have the same', parseName)
    .addOption(planOption().makeOptionMandatory())
    .option('--expires <date>', 'when it stops working: 2030-12-31, 2030-12-31T18:00Z or 90d', parseFutureTime);
  withCommonOptions(limitOptions(create)).action(async (options: PlanOptions & { name: string; expires?: number }) => {
    const { name, plan, expires: expiresAt } = options;
    const limits = agreedLimits(plan, options, options.stage);
    const target = await findTarget(options, notices);
    const created = await createKey(target, { name, plan, limits, expiresAt });
    print(options, { ...created, baseUrl: target.baseUrl }, () => describeNewKey(created, target.baseUrl));
  });
}

function addListAndShow(keys: Command): void {
  withCommonOptions(keys.command('list'))
    .description('shows all keys')
    .addOption(planOption())
    .action(async (options: Options<{ plan?: PlanId }>) => {
      const views = await listKeys(await findTarget(options, notices), options.plan);
      print(options, views, () => keyTable(views));
    });
  withCommonOptions(keys.command('show'))
    .description('shows one key')
    .argument('<id>', 'id of the key')
    .action(async (id: string, options: Options) => {
      const view = await showKey(await findTarget(options, notices), id);
      print(options, view, () => describeKey(view));
    });
}

function addMove(keys: Command): void {
  const move = keys
    .command('move')
    .description('puts a key on another plan; its counters stay')
    .argument('<id>', 'id of the key')
    .addOption(planOption().makeOptionMandatory());
  withCommonOptions(limitOptions(move)).action(async (id: string, options: PlanOptions) => {
    const limits = agreedLimits(options.plan, options, options.stage);
    const view = await moveKey(await findTarget(options, notices), id, options.plan, limits);
    const text = `${view.name} is on ${view.plan} now: ${number(view.perMinute)} a minute, ${number(view.perDay)} a day.`;
    const closed = `\nIt stays ${view.state}. To let it in: npm run admin -- keys resume ${id}`;
    print(options, view, () => text + (view.state === 'active' ? '' : closed));
  });
}

function addRotate(keys: Command): void {
  const grace = new Option('--grace <time>', 'how long the old key works on, such as 24h, 7d or 0s');
  withCommonOptions(keys.command('rotate'))
    .description('makes a new key in place of an old one, which works until the grace ends')
    .argument('<id>', 'id of the old key')
    .addOption(grace.argParser(parseDuration).default(parseDuration('24h'), '24h'))
    .action(async (id: string, options: Options<{ grace: number }>) => {
      const target = await findTarget(options, notices);
      const rotation = await rotateKey(target, id, options.grace);
      const old = `The old key ${id} works until ${time(rotation.graceEnds)}. Both count as one.`;
      const text = (): string => `${describeNewKey(rotation, target.baseUrl)}\n\n${old}`;
      print(options, { ...rotation, baseUrl: target.baseUrl }, text);
    });
}

function addSuspendAndResume(keys: Command): void {
  withCommonOptions(keys.command('suspend'))
    .description('refuses a key for a while, or until it is resumed')
    .argument('<id>', 'id of the key')
    .option('--for <time>', 'how long, such as 1h', parseDuration)
    .action(async (id: string, options: Options<{ for?: number }>) => {
      const view = await suspendKey(await findTarget(options, notices), id, options.for);
      const until = view.suspendedUntil === null ? 'it is resumed' : time(view.suspendedUntil);
      const text = `${view.name} is suspended until ${until}. To end that: npm run admin -- keys resume ${id}`;
      print(options, view, () => text);
    });
  withCommonOptions(keys.command('resume'))
    .description('lets a suspended key in again')
    .argument('<id>', 'id of the key')
    .action(async (id: string, options: Options) => {
      const { view, wasClosed, successorId } = await resumeKey(await findTarget(options, notices), id);
      const rotated = successorId === undefined ? '' : ` It was rotated to ${successorId}, which counts for both.`;
      print(options, view, () => `${view.name} is ${wasClosed ? '' : 'not suspended: it is '}${view.state}.${rotated}`);
    });
}

function addRevoke(keys: Command): void {
  withCommonOptions(keys.command('revoke'))
    .description('ends a key for good, from the very next request')
    .argument('<id>', 'id of the key')
    .option('--yes', 'do not ask', false)
    .action(async (id: string, options: Options<{ yes: boolean }>) => {
      const target = await findTarget(options, notices);
      const doomed = await findDoomedKey(target, id);
      const { name, plan, revoked: wasRevoked } = doomed.record;
      if (!options.yes && !wasRevoked) await confirmRevocation(doomed, target.place);
      const also = await revokeKey(target, doomed);
      print(options, { id, name, plan, state: 'revoked', also }, () =>
        wasRevoked
          ? `${name} (${id}) is revoked already.`
          : styled('green', [id, ...also].map((one) => `${name} (${one}) is revoked.`).join('\n')),
      );
    });
}

/** @throws AdminError where the answer is no, or there is nobody to ask */
async function confirmRevocation({ record, predecessors }: DoomedKey, place: string): Promise<void> {
  const { keyId, name, plan } = record;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const also = predecessors.length > 0 ? 'It and the keys that were rotated to it are' : 'Its requests are';
  const answer = await ask(`Revoke ${name} (${keyId}, ${plan}) on ${place}? ${also} refused at once, for good. (y/N) `);
  // The message that follows begins a line of its own.
  if (answer === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/** Asks on the terminal. @returns the line that was entered; undefined after Ctrl-C and Ctrl-D */
function ask(question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Standard output is for the result.
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    let answer: string | undefined;
    terminal.once('close', () => resolve(answer));
    terminal.question(question, (line) => {
      answer = line;
      terminal.close();
    });
  });
}

function addSync(keys: Command): void {
  withCommonOptions(keys.command('sync'))
    .description('takes over what was changed in the AWS console or with the AWS CLI, now')
    .option('--force', 'close keys that API Gateway has no longer, even where they are many', false)
    .action(async (options: Options<{ force: boolean }>) => {
      const { gateway, keyTable: table, apiStage } = await findTarget(options, notices);
      const report = await syncKeys(gateway, table, apiStage, { force: options.force });
      print(options, report, () => describeSync(report));
    });
}
