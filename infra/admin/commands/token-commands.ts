import { type Command, Option } from 'commander';
import { type Access, MAIN_LABEL } from '../../../shared/keys/key-record.ts';
import { AdminError, failureText } from '../admin-error.ts';
import { parseDuration, parseFutureTime, parseLabel } from '../inputs.ts';
import { addToken } from '../keys/add-token.ts';
import { endToken } from '../keys/end-token.ts';
import { findToken } from '../keys/find-token.ts';
import { keyView } from '../keys/key-view.ts';
import type { NewToken } from '../keys/new-token.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import type { Target } from '../target.ts';
import { effects, ended, foundToken, rotated } from '../words.ts';
import { ask } from './ask.ts';
import { describeKey, describeNewToken } from './key-texts.ts';
import { onService, type Report, report } from './options.ts';

export interface ReadOnly {
  readonly readOnly: boolean;
}

export const readOnlyOption = (): Option => new Option('--read-only', 'its token may change nothing').default(false);

export const accessOf = ({ readOnly }: ReadOnly): Access => (readOnly ? 'read' : 'full');

/** A new token, this once. What is said of the old one comes once it has been shown. */
export function reportToken(token: NewToken, { baseUrl }: Target, last: () => string = () => ''): Report {
  const after = async (): Promise<string> => {
    await token.confirmShown().catch((error: unknown) => {
      const reason = failureText(error, 'run the same command again');
      if (reason === undefined) throw error;
      throw new AdminError(
        `Do not use the key that was just shown: it is not confirmed, and another takes its place. ${reason}`,
      );
    });
    return last();
  };
  return { ...report({ ...token, baseUrl }, (shown) => describeNewToken(shown, baseUrl)), after };
}

const label = (): Option => new Option('--label <label>', 'which token, such as reports').argParser(parseLabel);

/** `keys rotate`, `add`, `end` and `find`. */
export function addTokenCommands(keys: Command): void {
  const onKey = (name: string, description: string): Command =>
    keys.command(name).description(description).argument('<id>', 'id of the key');
  const grace = new Option('--grace <time>', 'how long the old token works on, such as 24h, 7d or 0s');

  onService<{ label: string; grace: number }>(onKey('rotate', effects.rotate), async (find, options, id) => {
    const target = await find();
    const rotation = await rotateKey(target, id, { label: options.label, graceMs: options.grace });
    return reportToken(rotation, target, () => `\n  ${rotated(rotation)}`);
  })
    .addOption(label().default(MAIN_LABEL))
    .addOption(grace.argParser(parseDuration).default(parseDuration('24h'), '24h'));

  onService<ReadOnly & { label: string; expires?: number }>(onKey('add', effects.add), async (find, options, id) => {
    const target = await find();
    const order = { label: options.label, access: accessOf(options), until: options.expires };
    return reportToken(await addToken(target, id, order), target);
  })
    .addOption(label().makeOptionMandatory())
    .addOption(readOnlyOption())
    .option('--expires <date>', 'when it stops working: 2030-12-31, 2030-12-31T18:00Z or 90d', parseFutureTime);

  onService<{ label: string }>(onKey('end', effects.end), async (find, options, id) => {
    const view = keyView(await endToken(await find(), id, options.label));
    return report(view, (shown) => `${ended(shown, options.label)}\n\n${describeKey(shown)}`);
  }).addOption(label().makeOptionMandatory());

  onService(keys.command('find').description(effects.find), async (find) => {
    const target = await find();
    return report(await findToken(target, await readToken()), foundToken);
  });
}

/** Longer than any token, in characters; what else comes is not read. */
const MAX_INPUT = 10_000;

async function readInput(): Promise<string> {
  let input = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    input += String(chunk);
    if (input.length > MAX_INPUT) break;
  }
  return input;
}

/** Never an argument, which others on the machine could read. */
async function readToken(): Promise<string> {
  const given = process.stdin.isTTY ? await ask('The API key (it is not shown): ', true) : await readInput();
  if (given === undefined || given.trim() === '')
    throw new AdminError('Enter the API key, or send it to standard input, as with: npm run admin -- keys find < FILE');
  return given;
}
