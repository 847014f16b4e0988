import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { type ListId, operations } from '../contract/operations.ts';
import { responseTo } from '../dynamodb.ts';
import { logError, SLOW_CLIENT } from '../log.ts';
import type { SortedTable } from '../stores/sorted-table.ts';
import { ANY_ID } from '../stores/stock-store.ts';
import { withEntityTag } from './conditional-requests.ts';
import { decodeCursor, encodeCursor, parseListQuery } from './list-query.ts';
import { type Reply, streamingHandler } from './operation-handler.ts';
import { type ApiRequest, headerValues } from './request.ts';
import { stabilityHeader } from './response-headers.ts';

export interface List<Entry> {
  readonly operation: ListId;
  readonly entries: Pick<SortedTable<Entry>, 'all' | 'page' | 'byIds'>;
  readonly toJson: (entry: Entry) => string;
  /** Min read rate of a complete list; a slower client is disconnected. */
  readonly minPace?: MinPace;
}

/** Bytes of JSON, before compression, within milliseconds of waiting for the client. */
interface MinPace {
  readonly bytes: number;
  readonly withinMs: number;
}

type ListQuery = ReturnType<typeof parseListQuery>;

/** Page size for a request with a cursor but without a limit. */
const DEFAULT_LIMIT = 100;

/** 256 kB per second: a slower client would occupy an execution environment for too long. */
export const MIN_PACE: MinPace = { bytes: 2_560_000, withinMs: 10_000 };

/**
 * The function of a list operation: a JSON array, in ascending id. Without `limit` and `cursor` it is the complete
 * list, streamed page by page as it is read; with one of them it is one page, whose `Link` has the URL of the next.
 */
export function listHandler<Entry>(list: List<Entry>) {
  const { operation, entries } = list;
  const { query: parameters } = operations[operation];
  const respond = async (request: ApiRequest) => {
    const query = parseListQuery(request.query, parameters);
    const isPaged = query.petId !== undefined || query.limit !== undefined || query.cursor !== undefined;
    const reply = isPaged ? onePage(request, list, query) : wholeList(request, list, query);
    return compressed(request, await reply, list.minPace);
  };
  const page = () => entries.page({}, 1);
  const probes = 'petId' in parameters ? [page, () => entries.byIds([ANY_ID])] : [page];
  return streamingHandler(respond, {
    headers: stabilityHeader(operation),
    parameters: Object.keys(parameters),
    store: { probes, responseTo },
  });
}

/** The entries of the ids, or one page. */
async function onePage<Entry>(
  { headers, path }: ApiRequest,
  { operation, entries, toJson }: List<Entry>,
  { petId, limit = DEFAULT_LIMIT, cursor, status }: ListQuery,
): Promise<Reply> {
  const place = { list: operation, status };
  const after = cursor === undefined ? undefined : decodeCursor(cursor, place);
  const page = petId
    ? { entries: await entries.byIds(petId), last: undefined }
    : await entries.page({ status, after }, limit);
  const body = `[${page.entries.map(toJson).join(',')}]`;
  if (page.last === undefined) return withEntityTag(headers, { status: 200, body });
  const next = new URLSearchParams({
    limit: String(limit),
    ...(status !== undefined && { status }),
    cursor: encodeCursor({ ...place, after: page.last }),
  });
  const Link = `<${path}?${next.toString()}>; rel="next"`;
  return withEntityTag(headers, { status: 200, headers: { Link }, body });
}

/**
 * The list as a stream, read on demand. The first entries are read before the response begins, so a
 * store that is unavailable causes an Error body.
 */
async function wholeList<Entry>(
  { id: requestId }: ApiRequest,
  { entries, toJson, minPace = MIN_PACE }: List<Entry>,
  { status }: ListQuery,
): Promise<Reply<Readable>> {
  const parts = entries.all(status);
  const first = await parts.next();
  const chunks = paced(jsonArray(toJson, first, parts), minPace, (error) => stream.destroy(error));
  const stream: Readable = Readable.from(chunks);
  stream.once('error', (error) => {
    logError('A list was truncated after its response had begun', error, { requestId });
  });
  return { status: 200, body: stream };
}

/** The text of the array, a chunk for each part that has entries. */
async function* jsonArray<Entry>(
  toJson: List<Entry>['toJson'],
  first: IteratorResult<readonly Entry[]>,
  parts: AsyncGenerator<readonly Entry[]>,
): AsyncGenerator<string> {
  let separator = '[';
  for (let part = first; !part.done; part = await parts.next()) {
    if (part.value.length === 0) continue;
    yield separator + part.value.map(toJson).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/**
 * Passes chunks on, and disconnects a client below the min read rate. The time between two chunks is the store's,
 * and does not count. Each span of bytes has its own time limit: unused time does not carry over.
 */
async function* paced(chunks: AsyncIterable<string>, minPace: MinPace, disconnect: (error: Error) => void) {
  const { bytes, withinMs } = minPace;
  let taken = 0;
  let waitedMs = 0;
  for await (const chunk of chunks) {
    const handedOnAt = performance.now();
    const timer = setTimeout(() => disconnect(tooSlowError(minPace)), withinMs - waitedMs);
    try {
      yield chunk;
    } finally {
      clearTimeout(timer);
    }
    taken += Buffer.byteLength(chunk);
    waitedMs += performance.now() - handedOnAt;
    if (taken >= bytes) taken = waitedMs = 0;
  }
}

const tooSlowError = ({ bytes, withinMs }: MinPace): Error =>
  Object.assign(new Error(`The client was too slow: it read less than ${bytes} bytes in ${withinMs} ms`), {
    name: SLOW_CLIENT,
  });

/**
 * API Gateway does not compress streams. Each chunk is flushed, so none waits for the next. When the list
 * has ended, its client has one time limit for the rest in the compressor.
 */
function compressed(
  { method, headers: requestHeaders }: ApiRequest,
  reply: Reply<string | Readable>,
  minPace = MIN_PACE,
): Reply<string | Readable> {
  const headers = { ...reply.headers, Vary: 'Accept-Encoding' };
  const accepted = { headers: { 'accept-encoding': headerValues(requestHeaders, 'accept-encoding').join(', ') } };
  if (new Negotiator(accepted).encoding(['gzip', 'identity']) !== 'gzip' || reply.status === 304)
    return { ...reply, headers };
  const gzipped = { ...headers, 'Content-Encoding': 'gzip' };
  // Only the first entries have been read, and the rest is not needed.
  if (method === 'HEAD') return { ...reply, headers: gzipped };
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  const source = typeof reply.body === 'string' ? Readable.from(reply.body) : reply.body;
  source.once('end', () => {
    const timer = setTimeout(() => gzip.destroy(tooSlowError(minPace)), minPace.withinMs);
    gzip.once('close', () => clearTimeout(timer));
  });
  // An error of either stream destroys the other, whose reader gets it.
  pipeline(source, gzip, () => undefined);
  return { ...reply, headers: gzipped, body: gzip };
}
