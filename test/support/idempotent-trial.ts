import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../shared/contract/errors.ts';
import { IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { RequestStore } from '../../shared/stores/request-store.ts';
import { StockStore, type UpdateOutcome } from '../../shared/stores/stock-store.ts';
import { int64 } from './int64.ts';
import { type Fate, SteppedClient, type SteppedWork } from './stepped-calls.ts';
import { anEntry, StockTable } from './stock-table.ts';
import { createRequestsTable } from './tables.ts';

/** What happens next in a trial. */
export type Action =
  /** The request comes, for the first time or again. */
  | { readonly kind: 'try' }
  /** A call that one of the tries waits with goes on its way. */
  | { readonly kind: 'step'; readonly which: number; readonly fate: Fate }
  /** A try goes on to its end. */
  | { readonly kind: 'finish'; readonly which: number }
  /** Somebody else updates the entry, or imports it. */
  | { readonly kind: 'other' }
  | { readonly kind: 'import' }
  | { readonly kind: 'wait'; readonly seconds: number };

/** The revision of the entry at the beginning of a trial. */
export const FIRST_REVISION = 5;
/** What the request sets. */
export const REQUESTED = 500;

/** A version of the stock entry. */
interface Version {
  readonly revision: number;
  readonly quantity: number;
  /** Whether the request made it. */
  readonly ours: boolean;
}

/** What a try was answered with. */
interface Answer {
  readonly outcome: UpdateOutcome;
  /** Versions that there were by then. */
  readonly versions: number;
}

let requests = 0;

/** The tables for trials, each of which has a pet of its own. */
export class TrialTables {
  readonly stepped = new SteppedClient();
  readonly stock: StockTable;
  readonly requestsTable: string;

  private constructor(stock: StockTable, requestsTable: string) {
    this.stock = stock;
    this.requestsTable = requestsTable;
  }

  static async create(): Promise<TrialTables> {
    const { client } = new SteppedClient();
    return new TrialTables(await StockTable.create(client), await createRequestsTable(client));
  }
}

/** One request with an Idempotency-Key, its tries, what goes wrong with them, and what others do meanwhile. */
export class IdempotentTrial {
  readonly versions: Version[] = [{ revision: FIRST_REVISION, quantity: 1, ours: false }];
  readonly answers: Answer[] = [];
  /** Errors that tries were answered with. */
  readonly errors: unknown[] = [];
  /** Versions that there were when the request first came. */
  versionsAtStart: number | undefined;
  readonly #tables: TrialTables;
  readonly #revisions: readonly number[] | undefined;
  readonly #petId = int64(String(++requests));
  readonly #requestId = randomBytes(32).toString('hex');
  readonly #others: StockStore;
  readonly #updates: IdempotentUpdates;
  #tries: SteppedWork<UpdateOutcome>[] = [];
  #now = Date.UTC(2026, 10, 21);
  #writes = 0;
  /** Tries so far. */
  #begun = 0;

  /** @param revisions those that the request is for: its If-Match */
  constructor(tables: TrialTables, revisions: readonly number[] | undefined) {
    const { client } = tables.stepped;
    this.#tables = tables;
    this.#revisions = revisions;
    this.#others = new StockStore(client, tables.stock.name);
    this.#updates = new IdempotentUpdates(this.#others, new RequestStore(client, tables.requestsTable));
  }

  /** Runs a trial, lets all that waits come to its end, and sends the request a last time, when nothing goes wrong. */
  static async run(
    tables: TrialTables,
    revisions: readonly number[] | undefined,
    actions: readonly Action[],
  ): Promise<IdempotentTrial> {
    const trial = new IdempotentTrial(tables, revisions);
    await tables.stock.put(anEntry(trial.#petId), { revision: FIRST_REVISION });
    for (const action of actions) await trial.#act(action);
    while (trial.#tries.length > 0) await trial.#act({ kind: 'finish', which: 0 });
    const last: Action[] = [{ kind: 'wait', seconds: 31 }, { kind: 'try' }, { kind: 'finish', which: 0 }];
    for (const action of last) await trial.#act(action);
    return trial;
  }

  get ourVersions(): Version[] {
    return this.versions.filter(({ ours }) => ours);
  }

  /** What should never be, whatever happens to a request: nothing, so it is hoped. */
  get violations(): string[] {
    const [first] = this.answers;
    const { outcome } = first ?? {};
    const sinceAnswer = this.versions.slice(first?.versions);
    const rules: [string, boolean][] = [
      ['It is answered in the end.', outcome !== undefined],
      ['It is told to come again, or answered.', this.errors.every(isTryAgain)],
      ['It is always answered the same.', this.answers.every((answer) => isDeepStrictEqual(answer.outcome, outcome))],
      ['It takes effect at most once.', this.ourVersions.length <= 1],
      ['It undoes nothing that others did since it was answered.', !sinceAnswer.some(({ ours }) => ours)],
      ['The answer is true.', outcome !== undefined && this.#isTrue(outcome)],
    ];
    return rules.filter(([, holds]) => !holds).map(([rule]) => rule);
  }

  #isTrue(outcome: UpdateOutcome): boolean {
    const { versions, ourVersions } = this;
    const sinceStart = versions.slice(this.versionsAtStart);
    if (outcome.kind === 'absent') return false;
    const { revision } = outcome;
    if (outcome.kind === 'stale') {
      if (!this.#revisions || !versions.some((one) => one.revision === revision)) return false;
      // One that If-Match names may be told after a try that was cut off: nobody knows then what that one did.
      return !this.#revisions.includes(outcome.revision) || this.#begun > 1;
    }
    if (outcome.entry.quantity !== REQUESTED) return false;
    // Without a revision: others have replaced the version, or would have.
    return revision === undefined ? sinceStart.some(({ ours }) => !ours) : ourVersions[0]?.revision === revision;
  }

  async #act(action: Action): Promise<void> {
    if (action.kind === 'wait') this.#now += action.seconds * 1_000;
    else if (action.kind === 'try') await this.#try();
    else if (action.kind === 'step') await this.#step(action.which, action.fate);
    else if (action.kind === 'finish') await this.#finish(action.which);
    else await this.#write(action.kind);
    await this.#look();
  }

  async #try(): Promise<void> {
    this.versionsAtStart ??= this.versions.length;
    this.#begun += 1;
    const update = { petId: this.#petId, quantity: REQUESTED, revisions: this.#revisions };
    const request = { ...update, requestId: this.#requestId, fingerprint: 'the same' };
    this.#tries.push(await this.#tables.stepped.begin(() => this.#updates.once(request, this.#now)));
  }

  async #step(which: number, fate: Fate): Promise<void> {
    const work = this.#tries[which % Math.max(1, this.#tries.length)];
    if (!work) return;
    await work.step(fate);
    if (work.isWaiting) return;
    this.#tries = this.#tries.filter((other) => other !== work);
    if (!work.result) return;
    await this.#look();
    if ('value' in work.result) this.answers.push({ outcome: work.result.value, versions: this.versions.length });
    else this.errors.push(work.result.error);
  }

  async #finish(which: number): Promise<void> {
    const work = this.#tries[which % Math.max(1, this.#tries.length)];
    if (!work || !this.#tries.includes(work)) return;
    await this.#step(this.#tries.indexOf(work), 'done');
    if (this.#tries.includes(work)) await this.#finish(this.#tries.indexOf(work));
  }

  async #write(kind: 'other' | 'import'): Promise<void> {
    const quantity = 1_000 + ++this.#writes;
    if (kind === 'other') await this.#others.update({ petId: this.#petId, quantity, token: `other-${quantity}` });
    else await this.#tables.stock.put(anEntry(this.#petId, quantity), { revision: 1e15 * this.#writes });
  }

  /** Takes note of a new version of the entry. */
  async #look(): Promise<void> {
    const stored = await this.#tables.stock.read(this.#petId);
    if (!stored || stored.revision === this.versions.at(-1)?.revision) return;
    const { revision = 0, quantity } = stored;
    this.versions.push({ revision, quantity, ours: quantity === REQUESTED });
  }
}

/** Whether a try was told to come again, and nothing else. */
function isTryAgain(error: unknown): boolean {
  return error instanceof ServiceError && ['REQUEST_IN_PROGRESS', 'SERVICE_UNAVAILABLE'].includes(error.code);
}
