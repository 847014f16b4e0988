import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import type * as v from 'valibot';
import type { OperationId } from '../contract/operations.ts';
import { logError } from '../log.ts';
import type { Page, Selection } from '../stores/sorted-table.ts';
import { withEntityTag } from './entity-tags.ts';
import { decodeCursor, encodeCursor, type ListQuery, parseListQuery } from './list-query.ts';
import { type Reply, streamingHandler } from './operation-handler.ts';
import { headerValues } from './request.ts';
import { stabilityHeader } from './stability.ts';

export interface List<Entry, Status extends string> {
  readonly operation: OperationId;
  readonly status: v.GenericSchema<string, Status>;
  readonly entries: {
    all(status: Status | undefined): AsyncGenerator<readonly Entry[]>;
    page(selection: Selection, limit: number): Promise<Page<Entry>>;
  };
  readonly toJson: (entry: Entry) => string;
  /** Milliseconds without the reader taking anything, after which the answer is cut off. */
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
    const reply = isPaged ? await onePage(event, list, query) : await wholeList(event, list, query);
    return compressed(event, reply);
  }, stabilityHeader(list.operation));
}

async function onePage<Entry, Status extends string>(
  event: APIGatewayProxyEvent,
  { operation, entries, toJson }: List<Entry, Status>,
  { limit = DEFAULT_LIMIT, cursor, status }: ListQuery<Status>,
): Promise<Reply> {
  const place = { list: operation, status };
  const after = cursor === undefined ? undefined : decodeCursor(cursor, place);
  const page = await entries.page({ status, after }, limit);
  const body = `[${page.entries.map(toJson).join(',')}]`;
  if (page.last === undefined) return withEntityTag(event, { status: 200, body });
  const next = new URLSearchParams({
    limit: String(limit),
    ...(status !== undefined && { status }),
    cursor: encodeCursor({ ...place, after: page.last }),
  });
  const Link = `<${event.requestContext.path}?${next.toString()}>; rel="next"`;
  return withEntityTag(event, { status: 200, headers: { Link }, body });
}

/** The first entries are read before the answer begins, so that a store out of reach is an Error body. */
async function wholeList<Entry, Status extends string>(
  { requestContext: { requestId } }: APIGatewayProxyEvent,
  { entries, toJson, idleTimeoutMs = IDLE_TIMEOUT_MS }: List<Entry, Status>,
  { status }: ListQuery<Status>,
): Promise<Reply<Readable>> {
  const parts = entries.all(status);
  const first = await parts.next();
  const text = cutOffWhenIdle(jsonArray(first, parts, toJson), idleTimeoutMs, (error) => {
    logError('A list broke off after its answer had begun', error, { requestId });
  });
  return { status: 200, body: text };
}

/** The text of a JSON array, part by part as the entries are read. */
async function* jsonArray<Entry>(
  first: IteratorResult<readonly Entry[]>,
  parts: AsyncGenerator<readonly Entry[]>,
  toJson: (entry: Entry) => string,
): AsyncGenerator<string> {
  let separator = '[';
  for (let part = first; !part.done; part = await parts.next()) {
    if (part.value.length === 0) continue;
    yield separator + part.value.map(toJson).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** A stream of a text, which ends with an error when its reader takes nothing for too long: it costs the function's time. */
function cutOffWhenIdle(
  text: AsyncGenerator<string>,
  idleTimeoutMs: number,
  onError: (error: unknown) => void,
): Readable {
  const timed = async function* (): AsyncGenerator<string> {
    try {
      for await (const part of text) {
        const timer = setTimeout(() => stream.destroy(new Error('The reader has stalled')), idleTimeoutMs);
        try {
          yield part;
        } finally {
          clearTimeout(timer);
        }
      }
    } catch (error) {
      onError(error);
      throw error;
    }
  };
  const stream = Readable.from(timed());
  return stream;
}

/** API Gateway does not compress what is streamed. Each part is flushed, so that none waits for the next. */
function compressed(event: APIGatewayProxyEvent, reply: Reply<string | Readable>): Reply<string | Readable> {
  const headers = { ...reply.headers, Vary: 'Accept-Encoding' };
  const accepted = { headers: { 'accept-encoding': headerValues(event, 'Accept-Encoding').join(', ') } };
  if (new Negotiator(accepted).encoding(['gzip', 'identity']) !== 'gzip' || reply.status === 304)
    return { ...reply, headers };
  const gzipped = { ...headers, 'Content-Encoding': 'gzip' };
  // Nothing but the first entries has been read yet, and nobody wants the rest.
  if (event.httpMethod === 'HEAD') return { ...reply, headers: gzipped };
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  // An error of either stream destroys the other, where its reader gets it.
  pipeline(typeof reply.body === 'string' ? Readable.from(reply.body) : reply.body, gzip, () => undefined);
  return { ...reply, headers: gzipped, body: gzip };
}
