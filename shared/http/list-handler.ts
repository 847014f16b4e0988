import { Readable, pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import type * as v from 'valibot';
import type { OperationId } from '../contract/operations.ts';
import { logError } from '../log.ts';
import type { SigningSecret } from '../stores/signing-secret.ts';
import type { Page, Selection } from '../stores/sorted-table.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { type ListQuery, parseListQuery } from './list-query.ts';
import type { StreamedReply } from './reply.ts';
import { requestHeader } from './request-header.ts';
import { stabilityHeader } from './stability.ts';
import { streamingHandler } from './streaming-handler.ts';

export interface List<Entry, Status extends string> {
  readonly operation: OperationId;
  readonly status: v.GenericSchema<string, Status>;
  readonly entries: {
    pages(status: Status | undefined): AsyncGenerator<readonly Entry[]>;
    page(selection: Selection, limit: number): Promise<Page<Entry>>;
  };
  readonly toJson: (entry: Entry) => string;
  /** Signs the cursors. */
  readonly secret: SigningSecret;
  /** Milliseconds that a reader may take nothing for: beyond them a function is held up for nobody. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 30_000;

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
  event: APIGatewayProxyEvent,
  { operation, entries, toJson, secret }: List<Entry, Status>,
  { limit = DEFAULT_LIMIT, cursor, status }: ListQuery<Status>,
): Promise<StreamedReply> {
  const place = { list: operation, status };
  const after = cursor === undefined ? undefined : decodeCursor(cursor, place, await secret.value());
  const page = await entries.page({ status, after }, limit);
  const body = `[${page.entries.map(toJson).join(',')}]`;
  if (page.last === undefined) return { status: 200, body };
  const next = new URLSearchParams({
    limit: String(limit),
    ...(status !== undefined && { status }),
    cursor: encodeCursor({ ...place, after: page.last }, await secret.value()),
  });
  return { status: 200, headers: { Link: `<${event.requestContext.path}?${next.toString()}>; rel="next"` }, body };
}

/** The length of a page for a client that has a cursor and names no limit. */
const DEFAULT_LIMIT = 100;

/** The first page is read before the answer begins, so that a store out of reach is an Error body. */
async function wholeList<Entry, Status extends string>(
  { requestContext: { requestId } }: APIGatewayProxyEvent,
  { entries, toJson, patienceMs = PATIENCE_MS }: List<Entry, Status>,
  { status }: ListQuery<Status>,
): Promise<StreamedReply> {
  const pages = entries.pages(status);
  const first = await pages.next();
  const text = async function* (): AsyncGenerator<string> {
    let separator = '[';
    for (let page = first; !page.done; page = await pages.next()) {
      if (page.value.length === 0) continue;
      yield separator + page.value.map(toJson).join(',');
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  };
  const watched = async function* (): AsyncGenerator<string> {
    try {
      for await (const part of text()) {
        const timer = setTimeout(() => body.destroy(new Error('The reader has stalled')), patienceMs);
        try {
          yield part;
        } finally {
          clearTimeout(timer);
        }
      }
    } catch (error) {
      logError('A list broke off after its answer had begun', error, { requestId });
      throw error;
    }
  };
  const body = Readable.from(watched());
  return { status: 200, body };
}

/** API Gateway does not compress what is streamed. Each page is flushed, so that none waits for the next. */
function compressed(event: APIGatewayProxyEvent, reply: StreamedReply): StreamedReply {
  const headers = { ...reply.headers, Vary: 'Accept-Encoding' };
  const accepted = { headers: { 'accept-encoding': requestHeader(event, 'Accept-Encoding').join(', ') } };
  if (new Negotiator(accepted).encoding(['gzip', 'identity']) !== 'gzip') {
    return { ...reply, headers };
  }
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  // What goes wrong in one goes on through the other, to whoever reads it.
  pipeline(typeof reply.body === 'string' ? Readable.from(reply.body) : reply.body, gzip, () => undefined);
  return { ...reply, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: gzip };
}
