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
  /** By record id. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;

  constructor(commits: readonly Commit[]) {
    const versions = commits.flatMap(({ at, writer, after }) =>
      after ? { at, writer, key: parseKeyRecord(unmarshall(after, { ...exactNumbers })) } : [],
    );
    this.versions = Map.groupBy(versions, ({ key }) => key.recordId);
  }

  /** A key as it was at every moment from one time to another; undefined where there was none. */
  states(recordId: string, from: number, to: number): (KeyRecord | undefined)[] {
    const own = this.versions.get(recordId) ?? [];
    const before = own.findLast(({ at }) => at <= from);
    return [before, ...own.filter(({ at }) => at > from && at <= to)].map((version) => version?.key);
  }

  /** What the writes of a writer made of a key, each with the key as the write found it. */
  writesOf(recordId: string, writer: string): { found: KeyRecord | undefined; left: KeyRecord }[] {
    const own = this.versions.get(recordId) ?? [];
    return own.flatMap((version, index) =>
      version.writer === writer ? { found: own[index - 1]?.key, left: version.key } : [],
    );
  }
}
