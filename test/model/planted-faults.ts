import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Scenario } from './key-explorer.ts';

/** A fault in the source of the program, which a model must find. */
export interface PlantedFault {
  readonly fault: string;
  readonly file: string;
  /** A text of the file, and what is put in its place. */
  readonly from: string;
  readonly to: string;
}

/** One that the explorer must find, and the pair that shows it. */
interface FaultOfKeys extends PlantedFault {
  readonly pair: Pick<Scenario, 'first' | 'second' | 'fault'>;
}

const ROOT = join(import.meta.dirname, '../..');

const COUNTERS = 'shared/keys/counter-store.ts';

/** Makes a part of conditions true, whatever the item. It stays as well: DynamoDB refuses a value that is not used. */
const without = (fault: string, part: string, rest = ''): PlantedFault => ({
  fault,
  file: COUNTERS,
  from: part + rest,
  to: `(${part} OR attribute_not_exists(nothing))${rest}`,
});

const counts = (fault: string, from: string, to: string): PlantedFault => ({ fault, file: COUNTERS, from, to });

/** The conditions of the counter store, each taken out; counts; lost responses, which may count a request once more. */
export const faultsOfLimiter: readonly PlantedFault[] = [
  without('a disabled key is admitted', 'enabled = :true'),
  without('a revoked key is admitted', 'revoked = :false'),
  without('a suspended key is admitted', 'suspendedUntil <= :now'),
  without('an expired key is admitted', 'expiresAtMs > :now'),
  without('any token is admitted', 'tokens.#token.#until > :now'),
  without('a request is counted in another minute', 'currentMinute = :minute', ' AND'),
  without('a minute is begun twice', 'currentMinute < :minute'),
  without('a day is begun twice', 'currentMinute < :day'),
  without('the limit per minute is ignored', 'minuteUsed < perMinute'),
  without('the limit per day is ignored', 'dayUsed < perDay'),
  without('a request is refused with remaining quota', '(minuteUsed >= perMinute OR dayUsed >= perDay)'),
  without('a key with few refusals is suspended', 'minuteRefused >= perMinute'),
  counts('a request is counted twice', "':one': 1", "':one': 2"),
  counts('a refusal counts twice', 'refused.ofMinute', '2 * refused.ofMinute'),
  counts('a refusal is not counted', 'refused.ofMinute', '0 * refused.ofMinute'),
  {
    fault: 'a lost response counts its request twice more',
    file: 'shared/keys/limiter.ts',
    from: 'retry(() => this.#decide(token, key, options),',
    to: 'retry(() => this.#decide(token, key, options).catch(async (error) => { if (isConnectionGone(error)) await this.#decide(token, key, options); throw error; }),',
  },
  {
    fault: 'a throttled write counts once more, without a lost response',
    file: COUNTERS,
    from: 'this.#client.send(command);',
    to: 'this.#client.send(command).catch(async (error) => { if (isThrottled(error)) await this.#client.send(command); throw error; });',
  },
];

export const faultsOfKeys: readonly FaultOfKeys[] = [
  {
    fault: 'resume ignores the revision that it read',
    file: 'infra/admin/keys/key-actions.ts',
    from: 'if (isRead)',
    to: 'if (false)',
    pair: { first: 'resume', second: 'suspend', fault: 'stop' },
  },
  {
    fault: 'a pending sync is cleared after one minute',
    file: 'shared/key-registry/reconcile.ts',
    from: 'SETTLED_MS = 3 * 60_000',
    to: 'SETTLED_MS = 60_000',
    pair: { first: 'move to Pro', second: 'move to Free', fault: 'pause' },
  },
  {
    fault: 'a sync trusts the list without reading the key again',
    file: 'shared/key-registry/key-sync.ts',
    from: 'const live = await readLive(',
    to: 'const live = listed ?? await readLive(',
    pair: { first: 'move to Pro', second: 'rotate', fault: 'stop' },
  },
  {
    fault: 'a command clears the pending sync of a concurrent command',
    file: 'infra/admin/keys/change-key.ts',
    from: 'completeChange(target, { record: written, live }, wasApplied)',
    to: 'completeChange(target, { record: written, live }, true)',
    pair: { first: 'move to Pro', second: 'move to Free', fault: 'pause' },
  },
  {
    fault: 'a sync applies a change without storing its own timestamp',
    file: 'shared/key-registry/key-sync.ts',
    from: 'await keyTable.revise(record, stamp)',
    to: '{ ...record, ...stamp }',
    pair: { first: 'sync', second: 'move to Free', fault: 'freeze' },
  },
  {
    fault: 'the plan of a key is confirmed by the wrong list',
    file: 'shared/key-registry/live-key.ts',
    from: 'if (isOn) return',
    to: "if (isOn || 'keyId' in query) return",
    pair: { first: 'move to Pro', second: 'rotate', fault: 'stop' },
  },
  {
    fault: 'a sync unblocks a key in API Gateway without reporting it',
    file: 'shared/key-registry/key-sync.ts',
    from: 'if (problem) {',
    to: 'if (problem === "") {',
    pair: { first: 'move to Pro', second: 'move to Free', fault: 'stop' },
  },
  {
    fault: 'a command reads API Gateway before the record',
    file: 'infra/admin/keys/change-key.ts',
    from: 'const record = await readRecord(target, found.recordId);\n    const live = await readLive(target, record);',
    to: 'const old = await readRecord(target, found.recordId);\n    const live = await readLive(target, old);\n    const record = await readRecord(target, found.recordId);',
    pair: { first: 'resume', second: 'move to Pro', fault: 'stop' },
  },
  {
    fault: 'a key that is missing in API Gateway is revoked',
    file: 'shared/key-registry/reconcile.ts',
    from: 'isDeleted && record.enabled ? { enabled: false }',
    to: 'isDeleted && record.enabled ? { enabled: false, revoked: true }',
    pair: { first: 'move to Pro', second: 'console: delete', fault: 'stop' },
  },
  {
    fault: 'a command creates a key anew that an admin has deleted',
    file: 'infra/admin/keys/change-key.ts',
    from: 'if (isMissing) checkMayCreateAnew',
    to: 'if (false) checkMayCreateAnew',
    pair: { first: 'edit', second: 'console: delete', fault: 'stop' },
  },
  {
    fault: 'a resumed key is not created anew',
    file: 'shared/key-registry/reconcile.ts',
    from: "record.enabled ? ['key'] : []",
    to: "record.keyId === '' ? ['key'] : []",
    pair: { first: 'resume', second: 'sync', fault: 'stop' },
  },
  {
    fault: 'a sync blocks all keys in a fault',
    file: 'shared/key-registry/key-sync.ts',
    from: 'mayBlock.map(servedInFault)',
    to: 'mayBlock',
    pair: { first: 'edit', second: 'console: delete all', fault: 'stop' },
  },
  {
    fault: 'a history entry does not name the previous change',
    file: 'shared/key-registry/key-history.ts',
    from: 'at, previousAt, what, reason }',
    to: 'at, what, reason }',
    pair: { first: 'move to Pro', second: 'rotate', fault: 'kill' },
  },
];

/** Has the modules that are loaded from here on a fault. @throws Error where the text is not in the file */
export function plant({ file, from, to }: PlantedFault): void {
  const planted = pathToFileURL(join(ROOT, file)).href;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== planted) return loaded;
      const source = readFileSync(join(ROOT, file), 'utf8');
      if (!source.includes(from)) throw new Error(`There is no ${from} in ${file}`);
      return { ...loaded, source: source.replaceAll(from, () => to) };
    },
  });
}
