import { Command, Option } from 'commander';
import { type SyncOptions, syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { idOf } from '../../../shared/keys/key-record.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { AdminError, failureText } from '../admin-error.ts';
import { type Inputs, inputs } from '../inputs.ts';
import { createAction, type KeyAction, keyActions, revokeAction } from '../key-actions.ts';
import { revokedText } from '../key-text.ts';
import { findToken, type KeySelection, listKeys, showKey } from '../keys/key-view.ts';
import { findRecord } from '../keys/find-key.ts';
import type { NewToken } from '../keys/new-token.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import type { Target } from '../target.ts';
import { withTarget } from '../text-format.ts';
import { ask, confirm } from './confirm.ts';
import { foundTokenText, keyTableText, keyText, newTokenText, syncText } from './key-texts.ts';
import { KEY_ARGUMENT, onService, type Report, report } from './options.ts';

/** `keys …`. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys: who may call, on which plan');
  addAction(keys.command('create'), createAction);
  const list = keys.command('list').description('shows all keys');
  onService<KeySelection>(list, async (find, selection) => {
    const target = await find();
    return report(await listKeys(target, selection), (views) => keyTableText(views, target.option));
  });
  list
    .addOption(new Option('--plan <plan>', 'those on this plan alone').choices(planIds))
    .option('--search <text>', 'those with this in their name or id');
  onService(onKey(keys, 'show', 'shows one key'), async (find, _, key) => {
    return report(await showKey(await find(), key), keyText);
  });
  for (const [name, action] of Object.entries(keyActions)) addAction(onKey(keys, name), action);
  addFind(keys);
  addRevoke(keys);
  addSync(keys);
  return keys;
}

const onKey = (keys: Command, name: string, description = ''): Command =>
  keys.command(name).description(description).argument('<key>', KEY_ARGUMENT);

function addAction(command: Command, action: KeyAction): void {
  for (const name of action.inputs) command.addOption(optionOf(name, action.defaults?.[name]));
  if (action.asks) command.option('--yes', 'do not ask', false);
  onService<Inputs & { yes?: boolean }>(command.description(action.effect), async (find, { yes, ...values }, key) => {
    const target = await find();
    if (action.asks && !yes) {
      const subject = await showKey(target, key);
      const effect = action.asks(subject, values);
      if (effect !== undefined)
        await confirm(`${action.title}: ${subject.name} (${subject.id}) on ${target.place}? ${effect}`);
    }
    const { view, token, message } = await action.run(target, values, key).catch((error: unknown) => {
      throw failureOf(error, action);
    });
    if (token) return tokenReport(token, target, message, action);
    if (!view || view.state === 'active') return { value: view, text: message };
    const resume = `To let it in again: npm run admin -- keys resume ${view.id}`;
    return { value: view, text: `${message} ${withTarget(resume, target.option)}` };
  });
}

function optionOf(name: keyof Inputs, defaultText: string | undefined): Option {
  const { flag, hint, presence, choices, parse } = inputs[name];
  const option = new Option(flag, hint);
  if (!flag.includes('<')) return option;
  if (choices) option.choices(choices.map(([value]) => value));
  else option.argParser<unknown>(parse);
  if (defaultText !== undefined) return option.default(parse(defaultText), defaultText);
  return option.makeOptionMandatory(presence === 'required');
}

/** A new token, this once. What becomes of the old one is printed after it. */
function tokenReport(token: NewToken, { baseUrl }: Target, message: string, action: KeyAction): Report {
  const after = async (): Promise<string> => {
    await token.confirmShown().catch((error: unknown) => {
      const consequence = 'Do not use the key that was just shown: it is not confirmed, and another takes its place. ';
      throw failureOf(error, action, consequence);
    });
    return message === '' ? '' : `\n  ${message}`;
  };
  return { ...report({ ...token, baseUrl }, (shown) => newTokenText(shown, baseUrl)), after };
}

/** A failure of an action, in words that say what running it again comes to; a fault of the program as it is. */
function failureOf(error: unknown, { again }: KeyAction, consequence = ''): unknown {
  const reason = failureText(error, 'run the same command again', again);
  return reason === undefined ? error : new AdminError(...`${consequence}${reason}`.split('\n'));
}

function addFind(keys: Command): void {
  const find = 'says which key a token is of, and whether it works; asks for it, or reads it from standard input';
  onService(keys.command('find').description(find), async (service) => {
    const target = await service();
    return report(await findToken(target, await readToken()), foundTokenText);
  });
}

/** Longer than any token, in characters; what else comes is not read. */
const MAX_INPUT = 10_000;

/** Never an argument, which others on the machine could read. */
async function readToken(): Promise<string> {
  let token = process.stdin.isTTY ? ((await ask('The API key (it is not shown): ', true)) ?? '') : '';
  if (!process.stdin.isTTY)
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      token += String(chunk);
      if (token.length > MAX_INPUT) break;
    }
  if (token.trim() !== '') return token;
  throw new AdminError('Enter the API key, or send it to standard input, as with: npm run admin -- keys find < FILE');
}

function addRevoke(keys: Command): void {
  onService<{ yes: boolean }>(onKey(keys, 'revoke', revokeAction.effect), async (find, { yes }, named) => {
    const target = await find();
    const key = await findRecord(target, named);
    const { name, plan, revoked } = key;
    const id = idOf(key);
    const question = `Revoke ${name} (${id}, ${plan}) on ${target.place}? Its requests are refused at once, for good.`;
    if (!yes && !revoked) await confirm(question);
    await revokeKey(target, key);
    return { value: { id, name, plan, state: 'revoked' }, text: revokedText(key) };
  }).option('--yes', 'do not ask', false);
}

function addSync(keys: Command): void {
  const description = 'takes over what was changed in the AWS console or with the AWS CLI, now';
  onService<SyncOptions>(keys.command('sync').description(description), async (find, options) => {
    const target = await find();
    return report(await syncKeys(target, options), (done) => syncText(done, target.option));
  }).option('--force', 'close keys that API Gateway has no longer, even where they are many', false);
}
