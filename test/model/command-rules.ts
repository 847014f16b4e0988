import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { NEVER } from '../../shared/keys/working-token.ts';
import { hashToken } from '../../shared/keys/token.ts';
import { type CommandName, type InProcessTarget, type Start, sync } from '../support/in-process-target.ts';
import { apiStage } from '../support/gateway-records.ts';

export type Outcome =
  { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown };

/** What two commands have come to. */
export interface Ending {
  readonly world: InProcessTarget;
  readonly first: CommandName;
  readonly second: CommandName;
  readonly start?: Start;
  readonly subject: KeyRecord;
  /** Of the first and of the second. */
  readonly outcomes: readonly Outcome[];
  /** Whether a call, or its answer, was lost. */
  readonly isCut: boolean;
}

/** The first rule that two commands have broken together; undefined where there is none. */
export async function brokenRule(ending: Ending): Promise<string | undefined> {
  const { world, subject, isCut } = ending;
  // Without a fault nothing is left to a sync; after one, it brings both into line.
  const before = isCut ? undefined : differences(ending, await recordOf(ending));
  if (before !== undefined) return `before a sync, ${before}`;
  await sync(world.target);
  const record = await recordOf(ending);
  if (!record) return `the record of ${subject.keyId} is gone`;
  const after = differences(ending, record);
  if (after !== undefined) return `after a sync, ${after}`;
  return (await brokenClosing(ending, record)) ?? brokenTokens(ending, record);
}

async function recordOf({ world, subject }: Ending): Promise<KeyRecord | undefined> {
  return (await world.keys()).find(({ recordId }) => recordId === subject.recordId);
}

/** What API Gateway and the keys table say differently of a key. */
function differences({ world: { records }, isCut }: Ending, record: KeyRecord | undefined): string | undefined {
  // What was cut off may leave a key closed, which the next command mends: a sync reports it, and opens nothing.
  if (!record || (isCut && !record.enabled)) return undefined;
  const apiKey = records.apiKey(record.keyId);
  if (record.revoked || !apiKey) return undefined;
  const plan = records.planOnStage(record.keyId, apiStage)?.id;
  if (plan !== record.plan) return `API Gateway has the plan ${plan}, and the table ${record.plan}`;
  if (apiKey.enabled !== record.enabled)
    return `API Gateway has enabled ${apiKey.enabled}, and the table ${record.enabled}`;
  const { 'per-minute': perMinute } = apiKey.tags;
  if (perMinute !== undefined && record.plan === 'enterprise' && Number(perMinute) !== record.perMinute)
    return `API Gateway has ${perMinute} a minute, and the table ${record.perMinute}`;
  return undefined;
}

/** Closing wins: what was closed is closed, unless it was resumed; and what no command has closed is open. */
async function brokenClosing(ending: Ending, record: KeyRecord): Promise<string | undefined> {
  const { first, second, start, outcomes, world } = ending;
  const tried = (name: CommandName): boolean => first === name || second === name;
  const did = (name: CommandName): boolean =>
    [first, second].some((other, index) => other === name && outcomes[index]?.kind === 'done');
  const verdicts = await Promise.all(Object.keys(record.tokens).map((hash) => verdictOf(world, record, hash)));
  const isOpen = verdicts.includes('admitted');
  if (did('revoke') && (isOpen || !record.revoked || world.records.apiKey(record.keyId)))
    return 'a revoked key is open';
  if (did('suspend') && !tried('resume') && (isOpen || record.suspendedUntil < NEVER)) return 'a suspended key is open';
  if (did('suspend for a while') && !tried('resume') && isOpen) return 'a key that is suspended for a while is open';
  const isOffPlan = ending.isCut && (tried('move to Pro') || tried('move to Enterprise'));
  const closes = isOffPlan || tried('revoke') || tried('suspend') || tried('suspend for a while');
  const mustBeOpen = start === 'suspended' ? did('resume') : true;
  return !closes && mustBeOpen && !isOpen ? 'no command has closed the key, and none of its tokens works' : undefined;
}

/** A token that a command has shown works, unless the key is closed or the other command has ended it. */
async function brokenTokens(
  { world, first, second, outcomes, isCut }: Ending,
  subject: KeyRecord,
): Promise<string | undefined> {
  const records = await world.keys();
  for (const [index, outcome] of outcomes.entries()) {
    const shown = outcome.kind === 'done' ? tokenIn(outcome.result) : undefined;
    if (shown === undefined) continue;
    const hash = hashToken(shown);
    const record = records.find(({ tokens }) => Object.hasOwn(tokens, hash));
    const other = index === 0 ? second : first;
    if (!record) return `${index === 0 ? first : second} has shown a token that no key has`;
    if (record.tokens[hash]?.pending) return 'a token that was shown is pending';
    const closing = isCut ? /revoke|suspend|end|move/ : /revoke|suspend|end/;
    const mayBeClosed = record.keyId === subject.keyId && closing.test(other);
    if (!mayBeClosed && (await verdictOf(world, record, hash)) !== 'admitted')
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
