import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { NEVER } from '../../shared/keys/verdict.ts';
import { hashToken } from '../../shared/keys/token.ts';
import { type CommandName, type InProcessTarget, sync } from '../support/in-process-target.ts';
import { apiStage } from '../support/gateway-records.ts';

export type Outcome =
  { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown };

/** What two commands have come to. */
export interface Ending {
  readonly world: InProcessTarget;
  readonly pair: readonly [CommandName, CommandName];
  /** The key that they were about, as it was before. */
  readonly subject: KeyRecord;
  /** Of the first and of the second. */
  readonly outcomes: readonly Outcome[];
}

/** The first rule that two commands have broken together, with nothing left to a sync; undefined where there is none. */
export async function brokenRule(ending: Ending): Promise<string | undefined> {
  const { world, subject } = ending;
  const before = differences(ending, await recordOf(ending));
  if (before !== undefined) return `before a sync, ${before}`;
  await sync(world.target);
  const record = await recordOf(ending);
  if (!record) return `the record of ${subject.keyId} is gone`;
  const after = differences(ending, record);
  if (after !== undefined) return `after a sync, ${after}`;
  return (await brokenClosing(ending, record)) ?? brokenTokens(ending);
}

async function recordOf({ world, subject }: Ending): Promise<KeyRecord | undefined> {
  return (await world.keys()).find(({ recordId }) => recordId === subject.recordId);
}

/** What API Gateway and the keys table say differently of a key. */
function differences({ world: { records } }: Ending, record: KeyRecord | undefined): string | undefined {
  const apiKey = record && records.apiKey(record.keyId);
  if (!apiKey) return undefined;
  const plan = records.planOnStage(record.keyId, apiStage)?.id;
  if (plan !== record.plan) return `API Gateway has the plan ${plan}, and the table ${record.plan}`;
  if (apiKey.enabled !== record.enabled)
    return `API Gateway has enabled ${apiKey.enabled}, and the table ${record.enabled}`;
  const { 'per-minute': perMinute } = apiKey.tags;
  if (perMinute !== undefined && record.plan === 'enterprise' && Number(perMinute) !== record.perMinute)
    return `API Gateway has ${perMinute} a minute, and the table ${record.perMinute}`;
  return undefined;
}

/** Closing wins: what was suspended is closed, unless it was to be resumed; and what no command has closed is open. */
async function brokenClosing({ world, pair, outcomes }: Ending, record: KeyRecord): Promise<string | undefined> {
  const did = (name: CommandName): boolean =>
    pair.some((other, index) => other === name && outcomes[index]?.kind === 'done');
  const verdicts = await Promise.all(Object.keys(record.tokens).map((hash) => verdictOf(world, record, hash)));
  const isOpen = verdicts.includes('admitted');
  if (did('suspend') && !pair.includes('resume') && (isOpen || record.suspendedUntil < NEVER))
    return 'a suspended key is open';
  const mustBeOpen = !pair.includes('suspend') && (!pair.includes('resume') || did('resume'));
  return mustBeOpen && !isOpen ? 'no command has closed the key, and none of its tokens works' : undefined;
}

/** A token that a command has shown works, unless the other command has closed its key. */
async function brokenTokens({ world, pair, outcomes }: Ending): Promise<string | undefined> {
  const records = await world.keys();
  for (const [index, outcome] of outcomes.entries()) {
    const shown = outcome.kind === 'done' ? tokenIn(outcome.result) : undefined;
    if (shown === undefined) continue;
    const hash = hashToken(shown);
    const record = records.find(({ tokens }) => Object.hasOwn(tokens, hash));
    if (!record) return `${pair[index]} has shown a token that no key has`;
    if (record.tokens[hash]?.pending) return 'a token that was shown is pending';
    if (!pair.includes('suspend') && (await verdictOf(world, record, hash)) !== 'admitted')
      return 'a token that was shown does not work';
  }
  return undefined;
}

const tokenIn = (result: unknown): string | undefined =>
  typeof result === 'object' && result !== null && 'key' in result && typeof result.key === 'string'
    ? result.key
    : undefined;

const verdictOf = (world: InProcessTarget, { recordId }: KeyRecord, hash: string): Promise<string> =>
  world.verdict({ recordId, hash, usageIdentifier: recordId });
