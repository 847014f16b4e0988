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
  readonly #versions = new Map<string, Version[]>();
  readonly #counting = new Map<string, Version[]>();

  constructor(commits: readonly Commit[]) {
    for (const { at, writer, after } of commits) {
      if (!after) continue;
      const key = parseKeyRecord(unmarshall(after, { ...exactNumbers }));
      const versions = this.#versions.get(key.keyHash) ?? [];
      versions.push({ at, writer, key });
      this.#versions.set(key.keyHash, versions);
      if (key.replacedBy === undefined) this.countingVersions(key.lineage).push({ at, writer, key });
    }
  }

  get lineages(): string[] {
    return [...this.#counting.keys()];
  }

  /** The versions of the record that counts for a key and those before it, one record after the other. */
  countingVersions(lineage: string): Version[] {
    const versions = this.#counting.get(lineage) ?? [];
    this.#counting.set(lineage, versions);
    return versions;
  }

  lineageOf(keyHash: string): string | undefined {
    return this.#versions.get(keyHash)?.[0]?.key.lineage;
  }

  /** A key and those that count for it, one after the other, as they were at every moment from one time to another. */
  chains(keyHash: string, from: number, to: number): KeyRecord[][] {
    const lineage = this.lineageOf(keyHash);
    if (lineage === undefined) return [[]];
    const related = [...this.#versions.values()].filter(([first]) => first?.key.lineage === lineage);
    const changes = related.flat().map(({ at }) => at);
    const moments = new Set([from, ...changes.filter((at) => at > from && at <= to)]);
    return [...moments].map((at) => this.#chainAt(keyHash, at));
  }

  #chainAt(keyHash: string, time: number): KeyRecord[] {
    const chain: KeyRecord[] = [];
    for (let key = this.#at(keyHash, time); key;) {
      chain.push(key);
      key = key.replacedBy === undefined ? undefined : this.#at(key.replacedBy, time);
    }
    return chain;
  }

  #at(keyHash: string, time: number): KeyRecord | undefined {
    return this.#versions.get(keyHash)?.findLast((version) => version.at <= time)?.key;
  }
}
