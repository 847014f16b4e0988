import Negotiator from 'negotiator';
import { inventoryUpdateSchema } from '../../shared/contract/inventory.ts';
import { operations } from '../../shared/contract/operations.ts';
import { parseJsonBody } from '../../shared/http/json-body.ts';
import { withEntityTag } from '../../shared/http/entity-tags.ts';
import { decodeCursor, parseListQuery } from '../../shared/http/list-query.ts';
import { type ApiRequest, bearerToken, headerValues, parsePetId } from '../../shared/http/request.ts';
import { expectedVersions, idempotentRequest } from '../../shared/http/update-headers.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { aRequest } from '../support/proxy-event.ts';
import { atMost, type Figure } from './figure.ts';

/** As long as a body may be; API Gateway takes headers of 10 KB at most. */
const BYTES = 16 * 1024;
const TURNS = 30;

const JSON_TYPE = { 'Content-Type': 'application/json' };
const many = (text: string): string => text.repeat(BYTES / text.length);

const header = (name: string) => (value: string) =>
  aRequest({ method: 'PATCH', headers: { ...JSON_TYPE, [name]: value }, body: '{"quantity":1}' });

interface Parser {
  readonly request: (text: string) => ApiRequest;
  readonly parse: (request: ApiRequest) => unknown;
  /** The texts that cost most. */
  readonly worst: readonly string[];
}

const parseBody = (request: ApiRequest): unknown => parseJsonBody(request, inventoryUpdateSchema, '{"quantity":5}');

const parsers: Readonly<Record<string, Parser>> = {
  'JSON body': {
    request: (text) => aRequest({ method: 'PATCH', headers: JSON_TYPE, body: text.slice(0, BYTES) }),
    parse: parseBody,
    worst: [
      `{"quantity":1${many('0').slice(20)}1}`,
      `{"quantity":1e${many('9').slice(20)}}`,
      `{"quantity":1,"a":"${many('\\"').slice(20)}"}`,
      `{${many('"":1,').slice(0, -20)}"a":1}`,
      `{"a":${'['.repeat(BYTES / 2 - 10)}${']'.repeat(BYTES / 2 - 10)}}`,
      `{${Array.from({ length: 1_600 }, (_, index) => `"${index}":1`).join(',')}}`,
    ],
  },
  'Content-Encoding': {
    request: header('Content-Encoding'),
    parse: parseBody,
    worst: [`${many(', ')}x`, many('identity,')],
  },
  'Content-Type': { request: header('Content-Type'), parse: parseBody, worst: [`application/json${many(' ')}x`] },
  'If-Match': {
    request: header('If-Match'),
    parse: ({ headers }) => expectedVersions(headers),
    worst: [many('"",'), `"1"${many(' ,')}x`, many('W/"')],
  },
  'If-None-Match': {
    request: header('If-None-Match'),
    parse: (request) => withEntityTag(request.headers, { status: 200, body: '[]' }),
    worst: [many('"",'), many('W/"')],
  },
  'Accept-Encoding': {
    request: header('Accept-Encoding'),
    parse: ({ headers }) => {
      const accepted = { 'accept-encoding': headerValues(headers, 'accept-encoding').join(', ') };
      return new Negotiator({ headers: accepted }).encoding(['gzip', 'identity']);
    },
    worst: [many('gzip;q=0.1,'), many('*;q=,'), many(',')],
  },
  'Idempotency-Key': {
    request: header('Idempotency-Key'),
    parse: (request) => idempotentRequest(request, {}),
    worst: [`"${many('\\"')}`, many('\\\\')],
  },
  Authorization: {
    request: header('Authorization'),
    parse: ({ headers }) => parseToken(bearerToken(headers) ?? ''),
    worst: [`Bearer${many(' ')}x y`, `Bearer ${many('=')}`],
  },
  'query of a list': {
    request: (text) => ({ ...aRequest(), query: { cursor: [text], status: [text] } }),
    parse: ({ query }) => parseListQuery(query, operations.listInventory.query),
    worst: [many('0'), many('%')],
  },
  cursor: {
    request: (text) => ({ ...aRequest(), body: Buffer.from(text) }),
    parse: ({ body }) => decodeCursor(body.toString(), { list: 'listInventory', status: undefined }),
    worst: [many('Ojo6'), many('-')],
  },
  petId: { request: (petId) => ({ ...aRequest(), pathParameters: { petId } }), parse: parsePetId, worst: [many('9')] },
};

/** Each parser of what clients send, on 16 KiB of what costs it most. */
export function benchParsers(): Figure[] {
  const times = Object.entries(parsers).flatMap(([name, { request, parse, worst }]) =>
    worst.map((text) => ({ name, milliseconds: millisecondsOf(parse, request(text)) })),
  );
  const [slowest = { name: 'none', milliseconds: NaN }] = times.toSorted((a, b) => b.milliseconds - a.milliseconds);
  return [atMost(`the slowest parser, of ${slowest.name}: 16 KiB of its worst`, slowest.milliseconds, 50, ' ms')];
}

/** The shortest time of one call: nothing else ran meanwhile. What it throws is its answer. */
function millisecondsOf(parse: Parser['parse'], request: ApiRequest): number {
  const times = Array.from({ length: TURNS }, () => {
    const startedAt = performance.now();
    try {
      parse(request);
    } catch {
      // A refusal takes its time too.
    }
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
