import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../shared/contract/errors.ts';
import { StockStore, type UpdateOutcome } from '../../shared/stores/stock-store.ts';
import { int64 } from './int64.ts';
import { anEntry, type StockTable } from './stock-table.ts';
import { UnreliableWrites, type WriteFate } from './unreliable-writes.ts';

/** What others do to the entry. */
export type OthersAction = 'update' | 'import' | 'delete' | 'deliver';

/** What happens around one call of an update. */
export interface Step {
  /** Before the call. `deliver`: a write of the update that was late arrives. */
  readonly before: readonly OthersAction[];
  /** Of the call, where it is a write. */
  readonly fate: WriteFate;
}

/** The revision of the entry at the beginning. */
export const FIRST_REVISION = 5;
/** What the update sets. */
const REQUESTED = 500;

let pets = 0;

/** One update without an Idempotency-Key, what goes wrong with its calls, and what others do meanwhile. */
export class LostAnswerTrial {
  /** Revisions that the update has made. */
  readonly ours = new Set<number>();
  /** Undefined where it ended with 503. */
  outcome: UpdateOutcome | undefined;
  readonly #table: StockTable;
  readonly #others: StockStore;
  readonly #writes = new UnreliableWrites();
  readonly #petId = int64(String(++pets));
  #actions = 0;

  private constructor(client: DynamoDBDocumentClient, table: StockTable) {
    this.#table = table;
    this.#others = new StockStore(client, table.name);
  }

  /** @param revisions those that the update is for: its If-Match */
  static async run(
    client: DynamoDBDocumentClient,
    table: StockTable,
    revisions: readonly number[] | undefined,
    steps: readonly Step[],
  ): Promise<LostAnswerTrial> {
    const trial = new LostAnswerTrial(client, table);
    await trial.#run(revisions, [...steps]);
    return trial;
  }

  /** What must not be, whatever went wrong. */
  get violations(): string[] {
    const { ours, outcome } = this;
    const mustBe = outcome?.kind === 'updated';
    const mustNotBe = outcome?.kind === 'stale' && outcome.uncertain !== true;
    return [
      ...(ours.size > 1 ? [`done ${ours.size} times`] : []),
      ...(mustBe && ours.size === 0 ? ['acknowledged and not done'] : []),
      ...(mustBe && outcome.revision !== undefined && !ours.has(outcome.revision) ? ['another revision told'] : []),
      ...(mustNotBe && ours.size > 0 ? ['refused and done'] : []),
    ];
  }

  async #run(revisions: readonly number[] | undefined, steps: Step[]): Promise<void> {
    await this.#table.put(anEntry(this.#petId), { revision: FIRST_REVISION });
    const take = async (): Promise<WriteFate> => {
      const { before, fate }: Step = steps.shift() ?? { before: [], fate: 'done' };
      for (const action of before) await this.#act(action);
      return fate;
    };
    this.#writes.fate = take;
    this.#writes.beforeRead = async () => void (await take());
    this.#writes.afterWrite = () => this.#look();
    const store = new StockStore(this.#writes.client, this.#table.name);
    const update = { petId: this.#petId, quantity: REQUESTED, token: 'ours', revisions };
    try {
      this.outcome = await store.update(update);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
    }
    for (const { before } of steps) for (const action of before) await this.#act(action);
    while (this.#writes.hasLate) await this.#act('deliver');
    this.#writes.client.destroy();
  }

  async #act(action: OthersAction): Promise<void> {
    this.#actions += 1;
    const token = `other-${this.#actions}`;
    if (action === 'update') await this.#others.update({ petId: this.#petId, quantity: this.#actions, token });
    // A first write that arrives only after an import is the one case that cannot be told: see `conditionOf`.
    if (action === 'import' && !this.#writes.hasLate) await this.#import();
    if (action === 'delete') await this.#table.delete(this.#petId);
    if (action === 'deliver') await this.#writes.deliver();
    await this.#look();
  }

  /** An import replaces entries, and gives each a revision that it never had. */
  async #import(): Promise<void> {
    const entry = await this.#table.read(this.#petId);
    if (entry) await this.#table.put(anEntry(this.#petId, 2), { revision: Date.now() * 1_000 + this.#actions });
  }

  async #look(): Promise<void> {
    const stored = await this.#table.read(this.#petId);
    if (stored?.quantity === REQUESTED) this.ours.add(stored.revision ?? 0);
  }
}
