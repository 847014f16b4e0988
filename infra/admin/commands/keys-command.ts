import { Command, InvalidArgumentError, Option } from 'commander';
import { syncKeys } from '../../../shared/key-registry/key-sync.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { withoutTokens } from '../../../shared/keys/token.ts';
import { AdminError, failureText } from '../service/failures.ts';
import { type Inputs, inputs } from '../keys/inputs.ts';
import { createAction, isSuspendedOrDisabled, type KeyAction, keyActions } from '../keys/key-actions.ts';
import { foundTokenText } from '../keys/key-sentences.ts';
import { findRecord } from '../keys/find-key.ts';
import { findToken, type KeySelection, listKeys, showKey, stateFilters } from '../keys/key-view.ts';
import type { NewToken } from '../keys/tokens.ts';
import type { Target } from '../service/target.ts';
import { historyText, keyListCsv, keyListText, keyText, newTokenText, syncText } from './key-output.ts';
import { KEY_ARGUMENT, onService, type Outcome, outcome } from './options.ts';
import { ask, confirm } from './output.ts';

export function keysCommand(): Command {
  const keys = new Command('keys').description('Manage API keys, their tokens and plans');
  addAction(keys.command('create'), createAction);
  const list = keys.command('list').description('List keys');
  onService<KeySelection & { readonly csv?: true }>(list, async (target, { csv, ...selection }) =>
    outcome(await listKeys(target, selection), csv ? keyListCsv : keyListText),
  );
  list
    .addOption(new Option('--plan <plan>', 'only keys on this plan').choices(planIds))
    .addOption(
      new Option('--state <state>', 'only keys in this state (expiring: within 14 days)').choices(stateFilters),
    )
    .option(
      '--search <text>',
      'only keys with this text in their name or id, or as the last four characters of a token',
      parseSearch,
    )
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'));
  onService(onKey(keys, 'show', 'Show a key, its tokens and its usage'), async (target, _, key) =>
    outcome(await showKey(target, key), keyText),
  );
  onService(onKey(keys, 'history', 'Show the changes of a key in the last 400 days'), async (target, _, key) =>
    outcome(await target.history.of(await findRecord(target, key), 500), historyText),
  );
  for (const [name, action] of Object.entries(keyActions)) addAction(onKey(keys, name), action);
  const find = keys
    .command('find')
    .description("Find a token's key; the token is prompted for or read from standard input");
  onService(find, async (target) => outcome(await findToken(target, await readToken()), foundTokenText));
  const sync = keys
    .command('sync')
    .description('Immediately adopt changes made in the AWS console or with the AWS CLI');
  onService(sync, async (target) => outcome(await syncKeys(target), syncText));
  return keys;
}

const onKey = (keys: Command, name: string, description = ''): Command =>
  keys.command(name).description(description).argument('<key>', KEY_ARGUMENT);

function addAction(command: Command, action: KeyAction): void {
  for (const name of action.inputs) command.addOption(optionOf(name, action));
  if (action.confirmation) command.option('--yes', 'skip the confirmation', false);
  onService<Inputs & { yes?: boolean }>(command.description(action.effect), async (target, { yes, ...values }, key) => {
    const id = action.confirmation && !yes ? await confirmedId(target, action, values, key) : key;
    const { view, token, message } = await action.run(target, values, id).catch((error: unknown) => {
      throw failureOf(error, action);
    });
    if (token) return tokenOutcome(token, target, message, action);
    if (!view || !isSuspendedOrDisabled(view)) return { value: view, text: message };
    return { value: view, text: `${message} To resume it: npm run admin -- keys resume ${view.id}` };
  });
}

/** Rejects tokens: other users of the machine can read arguments. */
function parseSearch(text: string): string {
  if (withoutTokens(text) === text) return text;
  throw new InvalidArgumentError('A token must not be an argument. Look it up with: npm run admin -- keys find');
}

/** Confirms irreversible effects. @returns the id of the key, as another key may take its name meanwhile */
async function confirmedId(
  target: Target,
  { title, confirmation }: KeyAction,
  values: Inputs,
  key: string,
): Promise<string> {
  const view = await showKey(target, key);
  const effect = confirmation?.(view, values, target);
  if (effect !== undefined) await confirm(`${title}: ${view.name} (${view.id}) on ${target.place}? ${effect}`);
  return view.id;
}

function optionOf(name: keyof Inputs, { allOptional, defaults }: KeyAction): Option {
  const { flag, hint, presence, choices, parse } = inputs[name];
  const option = new Option(flag, hint);
  if (!flag.includes('<')) return option;
  if (choices) option.choices(choices.map(([value]) => value));
  else option.argParser<unknown>(parse);
  const text = defaults?.[name];
  if (text !== undefined) return option.default(parse(text), text);
  return option.makeOptionMandatory(presence === 'required' && !allOptional);
}

/** Prints a new token once, then what happens to the old one. */
function tokenOutcome(token: NewToken, { baseUrl }: Target, message: string, action: KeyAction): Outcome {
  const after = async (): Promise<string> => {
    await token.confirmShown().catch((error: unknown) => {
      const consequence = 'Do not use the token shown above: it is not confirmed, and a retry replaces it. ';
      throw failureOf(error, action, consequence);
    });
    return message === '' ? '' : `\n  ${message}`;
  };
  return { ...outcome({ ...token, baseUrl }, (shown) => newTokenText(shown, baseUrl)), after };
}

/** Adds the effect of a retry to the failure of an action. Other errors are returned as they are. */
function failureOf(error: unknown, { retryEffect }: KeyAction, consequence = ''): unknown {
  const reason = failureText(error, 'run the same command again', retryEffect);
  return reason === undefined ? error : new AdminError(...`${consequence}${reason}`.split('\n'));
}

/** Prompts for a token or reads it from standard input: other users of the machine can read arguments. */
async function readToken(): Promise<string> {
  let token = process.stdin.isTTY ? ((await ask('Token (hidden): ', true)) ?? '') : '';
  if (!process.stdin.isTTY)
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      token += String(chunk);
      // Longer than any token.
      if (token.length > 10_000) break;
    }
  if (token.trim() !== '') return token;
  throw new AdminError('Enter the token, or pass it on standard input: npm run admin -- keys find < FILE');
}
