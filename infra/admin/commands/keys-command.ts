import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import { parseDuration, parseFutureTime, parseName } from '../inputs.ts';
import { agreedLimits } from '../keys/agreed-limits.ts';
import { createKey } from '../keys/create-key.ts';
import { listKeys, showKey } from '../keys/list-keys.ts';
import { moveKey } from '../keys/move-key.ts';
import { type DoomedKey, findDoomedKey, revokeKey } from '../keys/revoke-key.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import { findTarget } from '../target.ts';
import { effects, moved, resumed, revocationQuestion, revoked, rotated, suspended } from '../words.ts';
import { describeKey, describeNewKey, describeSync, keyTable } from './key-texts.ts';
import { type CommonOptions, limitOptions, planOption, withCommonOptions } from './options.ts';
import { notices, print, styled } from './output.ts';

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
    .description(effects.create)
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
    .description(effects.move)
    .argument('<id>', 'id of the key')
    .addOption(planOption().makeOptionMandatory());
  withCommonOptions(limitOptions(move)).action(async (id: string, options: PlanOptions) => {
    const limits = agreedLimits(options.plan, options, options.stage);
    const view = await moveKey(await findTarget(options, notices), id, options.plan, limits);
    const closed = `\nIt stays ${view.state}. To let it in: npm run admin -- keys resume ${id}`;
    print(options, view, () => moved(view) + (view.state === 'active' ? '' : closed));
  });
}

function addRotate(keys: Command): void {
  const grace = new Option('--grace <time>', 'how long the old key works on, such as 24h, 7d or 0s');
  withCommonOptions(keys.command('rotate'))
    .description(effects.rotate)
    .argument('<id>', 'id of the old key')
    .addOption(grace.argParser(parseDuration).default(parseDuration('24h'), '24h'))
    .action(async (id: string, options: Options<{ grace: number }>) => {
      const target = await findTarget(options, notices);
      const rotation = await rotateKey(target, id, options.grace);
      const text = (): string => `${describeNewKey(rotation, target.baseUrl)}\n\n${rotated(rotation)}`;
      print(options, { ...rotation, baseUrl: target.baseUrl }, text);
    });
}

function addSuspendAndResume(keys: Command): void {
  withCommonOptions(keys.command('suspend'))
    .description(effects.suspend)
    .argument('<id>', 'id of the key')
    .option('--for <time>', 'how long, such as 1h', parseDuration)
    .action(async (id: string, options: Options<{ for?: number }>) => {
      const view = await suspendKey(await findTarget(options, notices), id, options.for);
      print(options, view, () => `${suspended(view)} To end that: npm run admin -- keys resume ${id}`);
    });
  withCommonOptions(keys.command('resume'))
    .description(effects.resume)
    .argument('<id>', 'id of the key')
    .action(async (id: string, options: Options) => {
      const resumption = await resumeKey(await findTarget(options, notices), id);
      print(options, resumption.view, () => resumed(resumption));
    });
}

function addRevoke(keys: Command): void {
  withCommonOptions(keys.command('revoke'))
    .description(effects.revoke)
    .argument('<id>', 'id of the key')
    .option('--yes', 'do not ask', false)
    .action(async (id: string, options: Options<{ yes: boolean }>) => {
      const target = await findTarget(options, notices);
      const doomed = await findDoomedKey(target, id);
      const { name, plan, revoked: wasRevoked } = doomed.record;
      if (!options.yes && !wasRevoked) await confirmRevocation(doomed, target.place);
      const also = await revokeKey(target, doomed);
      print(options, { id, name, plan, state: 'revoked', also }, () =>
        wasRevoked ? revoked(doomed, also) : styled('green', revoked(doomed, also)),
      );
    });
}

/** @throws AdminError where the answer is no, or there is nobody to ask */
async function confirmRevocation(doomed: DoomedKey, place: string): Promise<void> {
  const { keyId, name } = doomed.record;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const answer = await ask(`${revocationQuestion(doomed, place)} (y/N) `);
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
