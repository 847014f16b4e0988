import { Command, Option } from 'commander';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import {
  agreedLimits,
  type CommonOptions,
  limitOptions,
  parseDuration,
  parseFutureTime,
  parseName,
  planOption,
  withCommonOptions,
} from '../options.ts';
import { number, print, styled, time } from '../output.ts';
import { findTarget } from '../target.ts';
import { confirmRevocation } from './confirm-revocation.ts';
import { createKey } from './create-key.ts';
import { findKey, successorOf } from './find-key.ts';
import { keyView } from './key-view.ts';
import { listKeys } from './list-keys.ts';
import { moveKey } from './move-key.ts';
import { outlastMemory } from './outlast-memory.ts';
import { findDoomedKey, revokeKey } from './revoke-key.ts';
import { rotateKey } from './rotate-key.ts';
import { resumeKey, suspendKey } from './suspend-key.ts';
import { describeKey, describeNewKey, describeSync, keyTable } from './texts.ts';

type Options<Own = object> = CommonOptions & Own;
interface LimitOptions {
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

function addCreate(keys: Command): void {
  const create = keys
    .command('create')
    .description('issues a key and shows it, this once')
    .requiredOption('--name <name>', 'whose key it is; several may have the same', parseName)
    .addOption(planOption().makeOptionMandatory())
    .option('--expires <date>', 'when it stops working: 2030-12-31, 2030-12-31T18:00Z or 90d', parseFutureTime);
  withCommonOptions(limitOptions(create)).action(
    async (options: Options<LimitOptions & { name: string; plan: PlanId; expires?: number }>) => {
      const { name, plan, expires: expiresAt } = options;
      const limits = agreedLimits(plan, options);
      const target = await findTarget(options);
      const created = await createKey(target, { name, plan, limits, expiresAt });
      print(options, { ...created, baseUrl: target.baseUrl }, () => describeNewKey(created, target.baseUrl));
    },
  );
}

function addListAndShow(keys: Command): void {
  withCommonOptions(keys.command('list'))
    .description('shows all keys')
    .addOption(planOption())
    .action(async (options: Options<{ plan?: PlanId }>) => {
      const views = await listKeys(await findTarget(options), options.plan);
      print(options, views, () => keyTable(views));
    });
  withCommonOptions(keys.command('show'))
    .description('shows one key')
    .argument('<id>', 'id of the key')
    .action(async (id: string, options: Options) => {
      const view = keyView((await findKey(await findTarget(options), id)).record, Date.now());
      print(options, view, () => describeKey(view));
    });
}

function addMoveAndRotate(keys: Command): void {
  const move = keys
    .command('move')
    .description('puts a key on another plan; its counters stay')
    .argument('<id>', 'id of the key')
    .addOption(planOption().makeOptionMandatory());
  withCommonOptions(limitOptions(move)).action(
    async (id: string, options: Options<LimitOptions & { plan: PlanId }>) => {
      const limits = agreedLimits(options.plan, options);
      const view = keyView(await moveKey(await findTarget(options), id, options.plan, limits), Date.now());
      await outlastMemory();
      const text = `${view.name} is on ${view.plan} now: ${number(view.perMinute)} a minute, ${number(view.perDay)} a day.`;
      const closed = `\nIt stays ${view.state}. To let it in: npm run admin -- keys resume ${id}`;
      print(options, view, () => text + (view.state === 'active' ? '' : closed));
    },
  );
  withCommonOptions(keys.command('rotate'))
    .description('makes a new key in place of an old one, which works until the grace ends')
    .argument('<id>', 'id of the old key')
    .addOption(
      new Option('--grace <time>', 'how long the old key works on, such as 24h, 7d or 0s')
        .argParser(parseDuration)
        .default(parseDuration('24h'), '24h'),
    )
    .action(async (id: string, options: Options<{ grace: number }>) => {
      const target = await findTarget(options);
      const rotation = await rotateKey(target, id, options.grace);
      await outlastMemory(options.grace);
      print(
        options,
        { ...rotation, baseUrl: target.baseUrl },
        () =>
          `${describeNewKey(rotation, target.baseUrl)}\n\nThe old key ${id} works until ${time(rotation.graceEnds)}. Both count as one.`,
      );
    });
}

function addSuspendAndResume(keys: Command): void {
  withCommonOptions(keys.command('suspend'))
    .description('refuses a key for a while, or until it is resumed')
    .argument('<id>', 'id of the key')
    .option('--for <time>', 'how long, such as 1h', parseDuration)
    .action(async (id: string, options: Options<{ for?: number }>) => {
      const view = keyView(await suspendKey(await findTarget(options), id, options.for), Date.now());
      await outlastMemory();
      const until = view.suspendedUntil === null ? 'it is resumed' : time(view.suspendedUntil);
      print(
        options,
        view,
        () => `${view.name} is suspended until ${until}. To end that: npm run admin -- keys resume ${id}`,
      );
    });
  withCommonOptions(keys.command('resume'))
    .description('lets a suspended key in again')
    .argument('<id>', 'id of the key')
    .action(async (id: string, options: Options) => {
      const target = await findTarget(options);
      const { record, wasClosed } = await resumeKey(target, id);
      if (wasClosed) await outlastMemory();
      const view = keyView(record, Date.now());
      const successor = await successorOf(target, record);
      const rotated = successor ? ` It was rotated to ${successor.keyId}, which counts for both.` : '';
      print(options, view, () => `${view.name} is ${wasClosed ? '' : 'not suspended: it is '}${view.state}.${rotated}`);
    });
}

function addRevoke(keys: Command): void {
  withCommonOptions(keys.command('revoke'))
    .description('ends a key for good, from the very next request')
    .argument('<id>', 'id of the key')
    .option('--yes', 'do not ask', false)
    .action(async (id: string, options: Options<{ yes: boolean }>) => {
      const target = await findTarget(options);
      const doomed = await findDoomedKey(target, id);
      const { name, plan, revoked: wasRevoked } = doomed.record;
      if (!options.yes && !wasRevoked) await confirmRevocation(doomed, target.place);
      const also = (await revokeKey(target, doomed)).map(({ keyId }) => keyId);
      if (!wasRevoked) await outlastMemory();
      print(options, { id, name, plan, state: 'revoked', also }, () =>
        wasRevoked
          ? `${name} (${id}) is revoked already.`
          : styled('green', [id, ...also].map((one) => `${name} (${one}) is revoked.`).join('\n')),
      );
    });
}

function addSync(keys: Command): void {
  withCommonOptions(keys.command('sync'))
    .description('takes over what was changed in the AWS console or with the AWS CLI, now')
    .option('--force', 'close keys that API Gateway has no longer, even where they are many', false)
    .action(async (options: Options<{ force: boolean }>) => {
      const { gateway, keyTable: table, apiStage } = await findTarget(options);
      const report = await syncKeys(gateway, table, apiStage, { force: options.force });
      print(options, report, () => describeSync(report));
    });
}
