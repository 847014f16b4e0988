import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers } from '../../shared/dynamodb.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import type { Commit } from './virtual-tables.ts';

export interface Version {
  readonly at: number;
  readonly writer: string;
  readonly key: KeyRecord;
}

/** What the records of the keys were at every time. */
export class KeyTimeline {
  readonly #versions: readonly Version[];
  readonly #byKey: ReadonlyMap<string, readonly Version[]>;

  constructor(commits: readonly Commit[]) {
    this.#versions = commits.flatMap(({ at, writer, after }) =>
      after ? { at, writer, key: parseKeyRecord(unmarshall(after, { ...exactNumbers })) } : [],
    );
    this.#byKey = Map.groupBy(this.#versions, ({ key }) => key.keyHash);
  }

  /** The versions of the record that counts for a key and those before it, by lineage, one record after the other. */
  get countingVersions(): Map<string, Version[]> {
    const counting = this.#versions.filter(({ key }) => key.replacedBy === undefined);
    return Map.groupBy(counting, ({ key }) => key.lineage);
  }

  lineageOf(keyHash: string): string | undefined {
    return this.#byKey.get(keyHash)?.[0]?.key.lineage;
  }

  /** A key and those that count for it, one after the other, as they were at every moment from one time to another. */
  chains(keyHash: string, from: number, to: number): KeyRecord[][] {
    const lineage = this.lineageOf(keyHash);
    const related = this.#versions.filter(({ key, at }) => key.lineage === lineage && at > from && at <= to);
    const moments = new Set([from, ...related.map(({ at }) => at)]);
    return [...moments].map((at) => this.#chainAt(keyHash, at));
  }

  #chainAt(keyHash: string, time: number): KeyRecord[] {
    const chain: KeyRecord[] = [];
    for (let next: string | undefined = keyHash; next !== undefined; next = chain.at(-1)?.replacedBy) {
      const version = this.#byKey.get(next)?.findLast(({ at }) => at <= time);
      if (!version) break;
      chain.push(version.key);
    }
    return chain;
  }
}
