import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import { limitsOn, parseDuration, parseFutureTime, parseLasting, parseName } from '../inputs.ts';
import { createKey } from '../keys/create-key.ts';
import { listKeys, showKey } from '../keys/key-view.ts';
import { moveKey } from '../keys/move-key.ts';
import { type DoomedKey, findDoomedKey, revokeKey } from '../keys/revoke-key.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../keys/suspend-key.ts';
import { effects, moved, resumed, revocationQuestion, revoked, rotated, suspended, visible } from '../words.ts';
import { describeKey, describeNewKey, describeSync, keyTable } from './key-texts.ts';
import { limitOptions, onService, planOption, report } from './options.ts';
import { styled } from './output.ts';

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
  addMoveAndRotate(keys);
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
  onService<PlanOptions & { name: string; expires?: number }>(limitOptions(create), async (find, options) => {
    const { name, plan, expires: expiresAt, stage } = options;
    const order = { name, plan, limits: limitsOn(plan, options, stage), expiresAt };
    const target = await find();
    const created = await createKey(target, order);
    const { baseUrl } = target;
    return report({ ...created, baseUrl }, (shown) => describeNewKey(shown, baseUrl));
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

function addMoveAndRotate(keys: Command): void {
  const move = onKey(keys, 'move', effects.move).addOption(planOption().makeOptionMandatory());
  onService<PlanOptions>(limitOptions(move), async (find, options, id) => {
    const limits = limitsOn(options.plan, options, options.stage);
    const view = await moveKey(await find(), id, options.plan, limits);
    const closed = `\nIt stays ${view.state}. To let it in: npm run admin -- keys resume ${id}`;
    return report(view, (shown) => moved(shown) + (view.state === 'active' ? '' : closed));
  });
  const grace = new Option('--grace <time>', 'how long the old key works on, such as 24h, 7d or 0s');
  onService<{ grace: number }>(
    onKey(keys, 'rotate', effects.rotate, 'id of the old key'),
    async (find, options, id) => {
      const target = await find();
      const rotation = await rotateKey(target, id, options.grace);
      const { baseUrl } = target;
      return report({ ...rotation, baseUrl }, (shown) => `${describeNewKey(shown, baseUrl)}\n\n${rotated(rotation)}`);
    },
  ).addOption(grace.argParser(parseDuration).default(parseDuration('24h'), '24h'));
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
    const doomed = await findDoomedKey(target, id);
    const { name, plan, revoked: wasRevoked } = doomed.record;
    if (!yes && !wasRevoked) await confirmRevocation(doomed, target.place);
    const also = await revokeKey(target, doomed);
    return report({ id, name, plan, state: 'revoked', also }, (shown) => {
      const text = revoked({ ...doomed.record, name: shown.name }, also);
      return wasRevoked ? text : styled('green', text);
    });
  }).option('--yes', 'do not ask', false);
}

/** @throws AdminError where the answer is no, or there is nobody to ask */
async function confirmRevocation(doomed: DoomedKey, place: string): Promise<void> {
  const { keyId, name } = doomed.record;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const answer = await ask(`${visible(revocationQuestion(doomed, place))} (y/N) `);
  // The message that follows begins a line of its own.
  if (answer === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/** Asks on the terminal. @returns the line that was entered; undefined after Ctrl-C and Ctrl-D */
function ask(question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Standard output is for the result.
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    terminal.once('close', () => resolve(undefined));
    terminal.question(question, (line) => {
      resolve(line);
      terminal.close();
    });
  });
}

function addSync(keys: Command): void {
  const description = 'takes over what was changed in the AWS console or with the AWS CLI, now';
  onService<{ force: boolean }>(keys.command('sync').description(description), async (find, { force }) => {
    const { gateway, keyTable: table, apiStage } = await find();
    return report(await syncKeys(gateway, table, apiStage, { force }), describeSync);
  }).option('--force', 'close keys that API Gateway has no longer, even where they are many', false);
}
