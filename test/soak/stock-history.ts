import * as v from 'valibot';
import type { CarriedOut } from '../support/faulty-engine.ts';

/** An update that a client sent, with a quantity that no other has. */
export interface SentUpdate {
  readonly petId: string;
  readonly quantity: number;
  /** What the client knows of it. */
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** As its answer tells it. */
  readonly version: string | undefined;
}

const number = v.pipe(
  v.object({ N: v.string() }),
  v.transform(({ N }) => Number(N)),
);
const updateSchema = v.object({
  TableName: v.string(),
  Key: v.object({ petId: v.object({ N: v.string() }) }),
  ExpressionAttributeValues: v.object({ ':quantity': number, ':version': v.object({ S: v.string() }) }),
});
const transactionSchema = v.object({ TransactItems: v.tuple([v.unknown(), v.object({ Update: updateSchema })]) });

/** Every version that updates have given stock entries, as the engine itself tells it. */
export class StockHistory {
  /** Quantities by version, of each pet. */
  readonly #versions = new Map<string, Map<string, number>>();
  readonly #tableName: string;

  constructor(tableName: string) {
    this.#tableName = tableName;
  }

  note({ action, body, status }: CarriedOut): void {
    if (status !== 200 || !body.includes(this.#tableName)) return;
    if (action === 'UpdateItem') this.#add(v.parse(updateSchema, JSON.parse(body)));
    if (action === 'TransactWriteItems')
      this.#add(v.parse(transactionSchema, JSON.parse(body)).TransactItems[1].Update);
  }

  #add({ Key, ExpressionAttributeValues }: v.InferOutput<typeof updateSchema>): void {
    const { ':quantity': quantity, ':version': version } = ExpressionAttributeValues;
    const versions = this.#versions.get(Key.petId.N) ?? new Map<string, number>();
    this.#versions.set(Key.petId.N, versions.set(version.S, quantity));
  }

  /** The quantity of a version; undefined where no update made it. */
  quantityOf(petId: string, version: string): number | undefined {
    return this.#versions.get(petId)?.get(version);
  }

  /** What is wrong with the versions, given all updates that were sent; empty where nothing is. */
  faults(updates: readonly SentUpdate[]): string[] {
    return updates.flatMap((update) => this.#faultsOf(update));
  }

  #faultsOf(update: SentUpdate): string[] {
    const { petId, quantity, outcome, version } = update;
    const versions = [...(this.#versions.get(petId) ?? [])]
      .filter(([, each]) => each === quantity)
      .map(([made]) => made);
    const isWrong =
      versions.length > 1 ||
      (outcome === 'done' && versions[0] !== version) ||
      (outcome === 'refused' && versions.length > 0);
    return isWrong ? [`${JSON.stringify(update)} was done as ${JSON.stringify(versions)}`] : [];
  }
}
