import { Command } from 'commander';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import { limitsOn, parseFutureTime, parseLasting, parseName } from '../inputs.ts';
import { createKey } from '../keys/create-key.ts';
import { listKeys, showKey } from '../keys/key-view.ts';
import { moveKey } from '../keys/move-key.ts';
import { findKeyToRevoke, type KeyToRevoke, revokeKey } from '../keys/revoke-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import { type SyncOrder, syncTable } from '../keys/sync-table.ts';
import { visible } from '../text-format.ts';
import { effects, moved, resumed, revocationQuestion, revoked, suspended } from '../words.ts';
import { ask } from './ask.ts';
import { describeKey, describeSync, keyTable } from './key-texts.ts';
import { limitOptions, onService, planOption, report } from './options.ts';
import { styled } from './output.ts';
import { accessOf, addTokenCommands, type ReadOnly, readOnlyOption, reportToken } from './token-commands.ts';

interface PlanOptions {
  readonly plan: PlanId;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** `keys …`. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys: who may call, on which plan');
  addCreate(keys);
  addListAndShow(keys);
  addMove(keys);
  addTokenCommands(keys);
  addSuspendAndResume(keys);
  addRevoke(keys);
  addSync(keys);
  return keys;
}

const onKey = (keys: Command, name: string, description: string, id = 'id of the key'): Command =>
  keys.command(name).description(description).argument('<id>', id);

function addCreate(keys: Command): void {
  const create = keys
    .command('create')
    .description(effects.create)
    .requiredOption('--name <name>', 'whose key it is; several may have the same', parseName)
    .addOption(planOption().makeOptionMandatory())
    .option('--expires <date>', 'when it stops working: 2030-12-31, 2030-12-31T18:00Z or 90d', parseFutureTime);
  const withAccess = limitOptions(create).addOption(readOnlyOption());
  onService<PlanOptions & ReadOnly & { name: string; expires?: number }>(withAccess, async (find, options) => {
    const { name, plan, expires: expiresAt, stage } = options;
    const order = { name, plan, limits: limitsOn(plan, options, stage), access: accessOf(options), expiresAt };
    const target = await find();
    return reportToken(await createKey(target, order), target);
  });
}

function addListAndShow(keys: Command): void {
  const list = keys.command('list').description('shows all keys');
  onService<{ plan?: PlanId }>(list, async (find, { plan }) => {
    return report(await listKeys(await find(), plan), keyTable);
  }).addOption(planOption());
  onService(onKey(keys, 'show', 'shows one key'), async (find, _, id) => {
    return report(await showKey(await find(), id), describeKey);
  });
}

function addMove(keys: Command): void {
  const move = onKey(keys, 'move', effects.move).addOption(planOption().makeOptionMandatory());
  onService<PlanOptions>(limitOptions(move), async (find, options, id) => {
    const limits = limitsOn(options.plan, options, options.stage);
    const view = await moveKey(await find(), id, options.plan, limits);
    const closed = `\nIt stays ${view.state}. To let it in: npm run admin -- keys resume ${id}`;
    return report(view, (shown) => moved(shown) + (view.state === 'active' ? '' : closed));
  });
}

function addSuspendAndResume(keys: Command): void {
  onService<{ for?: number }>(onKey(keys, 'suspend', effects.suspend), async (find, options, id) => {
    const view = await suspendKey(await find(), id, options.for);
    return report(view, (shown) => `${suspended(shown)} To end that: npm run admin -- keys resume ${id}`);
  }).option('--for <time>', 'how long, such as 1h', parseLasting);
  onService(onKey(keys, 'resume', effects.resume), async (find, _, id) => {
    const resumption = await resumeKey(await find(), id);
    return report(resumption.view, (view) => resumed({ ...resumption, view }));
  });
}

function addRevoke(keys: Command): void {
  onService<{ yes: boolean }>(onKey(keys, 'revoke', effects.revoke), async (find, { yes }, id) => {
    const target = await find();
    const key = await findKeyToRevoke(target, id);
    if (!yes && !key.revoked) await confirmRevocation(key, target.place);
    await revokeKey(target, key);
    const { name, plan } = key;
    return report({ id, name, plan, state: 'revoked' }, (shown) => {
      const text = revoked({ ...key, name: shown.name });
      return key.revoked ? text : styled('green', text);
    });
  }).option('--yes', 'do not ask', false);
}

/** @throws AdminError where the answer is no, or there is nobody to ask */
async function confirmRevocation(key: KeyToRevoke, place: string): Promise<void> {
  const { keyId, name } = key;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const answer = await ask(`${visible(revocationQuestion(key, place))} (y/N) `);
  // The message that follows begins a line of its own.
  if (answer === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

function addSync(keys: Command): void {
  const description = 'takes over what was changed in the AWS console or with the AWS CLI, now';
  onService<SyncOrder>(keys.command('sync').description(description), async (find, order) => {
    return report(await syncTable(await find(), order), describeSync);
  })
    .option('--table <name>', 'another keys table, such as one that was restored, before it is used')
    .option('--force', 'close keys that API Gateway has no longer, even where they are many', false);
}
