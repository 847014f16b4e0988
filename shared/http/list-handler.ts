import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as v from 'valibot';
import type { OperationId } from '../contract/operations.ts';
import type { Page, Selection } from '../stores/sorted-table.ts';
import { compressed } from './compressed.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { jsonArray } from './json-array.ts';
import { type ListQuery, parseListQuery } from './list-query.ts';
import type { StreamedReply } from './reply.ts';
import { stabilityHeader } from './stability.ts';
import { streamingHandler } from './streaming-handler.ts';

export interface List<Entry, Status extends string> {
  readonly operation: OperationId;
  readonly status: v.GenericSchema<string, Status>;
  readonly entries: {
    all(status: Status | undefined): AsyncGenerator<readonly Entry[]>;
    page(selection: Selection, limit: number): Promise<Page<Entry>>;
  };
  readonly toJson: (entry: Entry) => string;
  /** Milliseconds that a reader may take nothing for: beyond them a function is held up for nobody. */
  readonly idleTimeoutMs?: number;
}

/** The length of a page for a client that has a cursor and names no limit. */
const DEFAULT_LIMIT = 100;

const IDLE_TIMEOUT_MS = 30_000;

/**
 * The handler of an operation that lists: a JSON array, in ascending id. Without `limit` and `cursor` it is the whole
 * list, and leaves page by page as it is read; with one of them it is one page, whose `Link` leads to the next.
 */
export function listHandler<Entry, Status extends string>(list: List<Entry, Status>) {
  return streamingHandler(async (event) => {
    const query = parseListQuery(event, list.status);
    const isPaged = query.limit !== undefined || query.cursor !== undefined;
    return compressed(event, isPaged ? await onePage(event, list, query) : await wholeList(event, list, query));
  }, stabilityHeader(list.operation));
}

async function onePage<Entry, Status extends string>(
  { requestContext }: APIGatewayProxyEvent,
  { operation, entries, toJson }: List<Entry, Status>,
  { limit = DEFAULT_LIMIT, cursor, status }: ListQuery<Status>,
): Promise<StreamedReply> {
  const place = { list: operation, status };
  const after = cursor === undefined ? undefined : decodeCursor(cursor, place);
  const page = await entries.page({ status, after }, limit);
  const body = `[${page.entries.map(toJson).join(',')}]`;
  if (page.last === undefined) return { status: 200, body };
  const next = new URLSearchParams({
    limit: String(limit),
    ...(status !== undefined && { status }),
    cursor: encodeCursor({ ...place, after: page.last }),
  });
  return { status: 200, headers: { Link: `<${requestContext.path}?${next.toString()}>; rel="next"` }, body };
}

/** The first entries are read before the answer begins, so that a store out of reach is an Error body. */
async function wholeList<Entry, Status extends string>(
  { requestContext: { requestId } }: APIGatewayProxyEvent,
  { entries, toJson, idleTimeoutMs = IDLE_TIMEOUT_MS }: List<Entry, Status>,
  { status }: ListQuery<Status>,
): Promise<StreamedReply> {
  const parts = entries.all(status);
  const first = await parts.next();
  return { status: 200, body: jsonArray({ first, parts, toJson, requestId, idleTimeoutMs }) };
}
