import { number } from '../text-format.ts';
import { type Html, markup } from './markup.ts';

const PAGE_SIZE = 50;

/** A column that rows can be sorted by. */
export interface Column<Row> {
  readonly title: string;
  /** Whether the lowest is looked for first; otherwise the highest, as of uses and times. */
  readonly isUpFirst?: boolean;
  readonly by: (row: Row) => string | number;
}

/** By the names that they have in an address. Rows are sorted by the first one, if the address says nothing else. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** The query of an address: `sort`, `order`, `page`, and what the rows are filtered by. */
export type Query = Readonly<Record<string, string>>;

/** The rows of one page, sorted; the heads that sort by a column; and links to the pages beside it. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly heads: readonly Html[];
  readonly links: Html | '';
}

/** @param path of the page, under the base */
export function rowPage<Row>(path: string, columns: Columns<Row>, found: readonly Row[], query: Query): RowPage<Row> {
  const address = (changes: Query): string =>
    `${path}?${new URLSearchParams({ ...query, done: '', ...changes }).toString()}`;
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(last, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  return {
    rows: sorted(found, columns, query).slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    heads: sortingHeads(columns, query, address),
    links: last === 1 ? '' : pageLinks(page, last, address),
  };
}

const collator = new Intl.Collator('en');

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));

function sorted<Row>(rows: readonly Row[], columns: Columns<Row>, { sort, order }: Query): readonly Row[] {
  const entries = Object.entries(columns);
  const [, column] = entries.find(([id]) => id === sort) ?? entries[0] ?? [];
  if (!column) return rows;
  const ascending = rows.toSorted((a, b) => compare(column.by(a), column.by(b)));
  return order === 'down' ? ascending.toReversed() : ascending;
}

function sortingHeads<Row>(columns: Columns<Row>, query: Query, address: (changes: Query) => string): Html[] {
  return Object.entries(columns).map(([id, { title, isUpFirst = false }], index) => {
    const isSorted = query['sort'] ? query['sort'] === id : index === 0;
    const isDown = query['order'] === 'down';
    const direction = isSorted ? markup`aria-sort="${isDown ? 'descending' : 'ascending'}"` : '';
    const isDownNext = isSorted ? !isDown : !isUpFirst;
    const link = address({ sort: id, order: isDownNext ? 'down' : 'up', page: '1' });
    return markup`<th scope="col" ${direction}><a href="${link}">${title}</a></th>`;
  });
}

function pageLinks(page: number, last: number, address: (changes: Query) => string): Html {
  const link = (to: number, text: string): Html =>
    to < 1 || to > last ? markup`<span>${text}</span>` : markup`<a href="${address({ page: String(to) })}">${text}</a>`;
  return markup`<nav class="pages" aria-label="Pages">${link(page - 1, '← Previous')}
<span>Page ${number(page)} of ${number(last)}</span>${link(page + 1, 'Next →')}</nav>`;
}
