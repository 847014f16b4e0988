import type { Int64 } from '../../../shared/contract/int64.ts';
import type { Page, Selection } from '../../../shared/stores/sorted-table.ts';
import { int64 } from '../../support/int64.ts';

/** An entry of a list. */
export interface ListedEntry {
  readonly id: Int64;
}

export const entryToJson = ({ id }: ListedEntry): string => `{"id":${id}}`;

/** A list whose entries have the ids from 1 on, in pages of so many. */
export class PagedList {
  /** Pages that were asked for so far, each by its number from 1 on. */
  readonly reads: number[] = [];
  /** What was asked for. */
  readonly asked: unknown[] = [];
  /** Called before a page is read. */
  before: (page: number) => Promise<void> | void = () => undefined;
  readonly #pages: readonly (readonly ListedEntry[])[];

  constructor(...lengths: number[]) {
    let id = 0;
    this.#pages = lengths.map((length) => Array.from({ length }, () => ({ id: int64(String(++id)) })));
  }

  /** The JSON of the whole list. */
  get json(): string {
    return `[${this.#pages.flat().map(entryToJson).join(',')}]`;
  }

  async *all(status: string | undefined): AsyncGenerator<readonly ListedEntry[]> {
    this.asked.push({ status });
    for (const [index, page] of this.#pages.entries()) {
      this.reads.push(index + 1);
      await this.before(index + 1);
      yield page;
    }
  }

  async byIds(ids: readonly Int64[]): Promise<readonly ListedEntry[]> {
    this.asked.push({ ids });
    return ids.map((id) => ({ id }));
  }

  async page({ status, after = int64('0') }: Selection, limit: number): Promise<Page<ListedEntry>> {
    this.asked.push({ status, after, limit });
    await this.before(1);
    const rest = this.#pages.flat().filter(({ id }) => BigInt(id) > BigInt(after));
    const entries = rest.slice(0, limit);
    return { entries, last: rest.length > limit ? entries.at(-1)?.id : undefined };
  }
}
