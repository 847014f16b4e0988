import * as v from 'valibot';
import type { CarriedOut } from './faulty-engine.ts';

/** An update that a client sent, with a quantity that no other has. */
export interface SentUpdate {
  readonly petId: string;
  readonly quantity: number;
  /** What the client knows of it. */
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** As its answer tells it. */
  readonly revision: number | undefined;
  /** When it was sent and answered, as numbers that grow. */
  readonly begun: number;
  readonly ended: number;
}

const number = v.pipe(
  v.object({ N: v.string() }),
  v.transform(({ N }) => Number(N)),
);
const callSchema = v.object({ TableName: v.string(), Key: v.object({ petId: v.object({ N: v.string() }) }) });
const answerSchema = v.object({ Attributes: v.object({ quantity: number, revision: number }) });

/** Every version that stock entries have had, as the engine itself tells it. */
export class StockHistory {
  /** Quantities by revision, of each pet. */
  readonly #versions = new Map<string, Map<number, number>>();
  readonly #tableName: string;

  constructor(tableName: string) {
    this.#tableName = tableName;
  }

  note({ action, body, status, answer }: CarriedOut): void {
    if (action !== 'UpdateItem' || status !== 200 || !body.includes(this.#tableName)) return;
    const { Key } = v.parse(callSchema, JSON.parse(body));
    const { quantity, revision } = v.parse(answerSchema, JSON.parse(answer)).Attributes;
    const versions = this.#versions.get(Key.petId.N) ?? new Map<number, number>();
    this.#versions.set(Key.petId.N, versions.set(revision, quantity));
  }

  get size(): number {
    return [...this.#versions.values()].reduce((sum, { size }) => sum + size, 0);
  }

  last(petId: string): { readonly revision: number; readonly quantity: number } | undefined {
    const [revision, quantity] = [...(this.#versions.get(petId) ?? [])].toSorted(([a], [b]) => b - a)[0] ?? [];
    return revision === undefined || quantity === undefined ? undefined : { revision, quantity };
  }

  /** What is wrong with the versions, given all updates that were sent; empty where nothing is. */
  faults(updates: readonly SentUpdate[]): string[] {
    return [
      ...[...this.#versions].flatMap(([petId, versions]) => gaps(petId, versions)),
      ...updates.flatMap((update) => this.#faultsOf(update)),
      ...this.#outOfOrder(updates),
    ];
  }

  #faultsOf(update: SentUpdate): string[] {
    const { petId, quantity, outcome, revision } = update;
    const revisions = [...(this.#versions.get(petId) ?? [])].filter(([, each]) => each === quantity).map(([at]) => at);
    const isWrong =
      revisions.length > 1 ||
      (outcome === 'done' && revisions[0] !== revision) ||
      (outcome === 'refused' && revisions.length > 0);
    return isWrong ? [`${JSON.stringify(update)} was done at ${JSON.stringify(revisions)}`] : [];
  }

  /** An update that was acknowledged before another was sent must lie beneath it. */
  #outOfOrder(updates: readonly SentUpdate[]): string[] {
    const done = updates.filter(({ outcome }) => outcome === 'done');
    return done.flatMap((later) =>
      done
        .filter(({ petId, ended }) => petId === later.petId && ended < later.begun)
        .filter(({ revision = 0 }) => revision > (later.revision ?? 0))
        .map((earlier) => `${JSON.stringify(earlier)} came after ${JSON.stringify(later)}`),
    );
  }
}

function gaps(petId: string, versions: ReadonlyMap<number, number>): string[] {
  const missing = Array.from({ length: versions.size }, (_, index) => index + 1).filter((at) => !versions.has(at));
  return missing.map((revision) => `pet ${petId} has no revision ${revision}`);
}
