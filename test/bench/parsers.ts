import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import { inventoryUpdateSchema, petStatusSchema } from '../../shared/contract/inventory.ts';
import { parseJsonBody } from '../../shared/http/json-body.ts';
import { withEntityTag } from '../../shared/http/entity-tags.ts';
import { decodeCursor, parseListQuery } from '../../shared/http/list-query.ts';
import { bearerToken, headerValues, parsePetId } from '../../shared/http/request.ts';
import { expectedVersions, idempotentRequest } from '../../shared/http/update-headers.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { atMost, type Figure } from './figure.ts';

/** As long as a body may be; API Gateway takes headers of 10 KB at most. */
const BYTES = 16 * 1024;
const TURNS = 30;

const JSON_TYPE = { 'Content-Type': 'application/json' };
const many = (text: string): string => text.repeat(BYTES / text.length);
const harmless = many('a');

const body = (text: string) => aProxyEvent({ method: 'PATCH', headers: JSON_TYPE, body: text.slice(0, BYTES) });
const header = (name: string) => (value: string) =>
  aProxyEvent({ method: 'PATCH', headers: { ...JSON_TYPE, [name]: value }, body: '{"quantity":1}' });

interface Parser {
  readonly event: (text: string) => APIGatewayProxyEvent;
  readonly parse: (event: APIGatewayProxyEvent) => unknown;
  /** The texts that cost most. */
  readonly worst: readonly string[];
  readonly harmless?: string;
}

const parseBody = (event: APIGatewayProxyEvent): unknown => parseJsonBody(event, inventoryUpdateSchema);
const inBody = (inner: string): string => `{"quantity":1,"a":"${inner.slice(0, BYTES - 20)}"}`;

const parsers: Readonly<Record<string, Parser>> = {
  'JSON body': {
    event: body,
    parse: parseBody,
    harmless: inBody(harmless),
    worst: [
      `{"quantity":1${many('0').slice(20)}1}`,
      `{"quantity":1e${many('9').slice(20)}}`,
      inBody(many('\\"')),
      `{${many('"":1,').slice(0, -20)}"a":1}`,
      `{"a":${'['.repeat(BYTES / 2 - 10)}${']'.repeat(BYTES / 2 - 10)}}`,
      `{${Array.from({ length: 1_600 }, (_, index) => `"${index}":1`).join(',')}}`,
    ],
  },
  'Content-Encoding': {
    event: header('Content-Encoding'),
    parse: parseBody,
    worst: [`${many(', ')}x`, many('identity,')],
  },
  'Content-Type': { event: header('Content-Type'), parse: parseBody, worst: [`application/json${many(' ')}x`] },
  'If-Match': {
    event: header('If-Match'),
    parse: expectedVersions,
    worst: [many('"",'), `"1"${many(' ,')}x`, many('W/"')],
  },
  'If-None-Match': {
    event: header('If-None-Match'),
    parse: (event) => withEntityTag(event, { status: 200, body: '[]' }),
    worst: [many('"",'), many('W/"')],
  },
  'Accept-Encoding': {
    event: header('Accept-Encoding'),
    parse: (event) =>
      new Negotiator({ headers: { 'accept-encoding': headerValues(event, 'Accept-Encoding').join(', ') } }).encoding([
        'gzip',
        'identity',
      ]),
    worst: [many('gzip;q=0.1,'), many('*;q=,'), many(',')],
  },
  'Idempotency-Key': {
    event: header('Idempotency-Key'),
    parse: (event) => idempotentRequest(event, {}),
    worst: [`"${many('\\"')}`, many('\\\\')],
  },
  Authorization: {
    event: header('Authorization'),
    parse: (event) => parseToken(bearerToken(event) ?? ''),
    worst: [`Bearer${many(' ')}x y`, `Bearer ${many('=')}`],
  },
  'query of a list': {
    event: (text) => ({ ...aProxyEvent(), multiValueQueryStringParameters: { cursor: [text], status: [text] } }),
    parse: (event) => parseListQuery(event, petStatusSchema),
    worst: [many('0'), many('%')],
  },
  cursor: {
    event: (text) => ({ ...aProxyEvent(), body: text }),
    parse: (event) => decodeCursor(event.body ?? '', { list: 'listInventory', status: undefined }),
    worst: [many('Ojo6'), many('-')],
  },
  petId: { event: (petId) => ({ ...aProxyEvent(), pathParameters: { petId } }), parse: parsePetId, worst: [many('9')] },
};

/** Each parser of what clients send, on 16 KiB of what costs it most, beside as much that costs it nothing. */
export function benchParsers(): Figure[] {
  const rows = Object.entries(parsers).map(([name, { event, parse, worst, harmless: easy = harmless }]) => {
    const base = millisecondsOf(parse, event(easy));
    const slowest = Math.max(...worst.map((text) => millisecondsOf(parse, event(text))));
    return { slowest, figure: atMost(`${name}: 16 KiB of its worst ÷ as much that is harmless`, slowest / base, 100) };
  });
  const slowest = Math.max(...rows.map((row) => row.slowest));
  return [...rows.map(({ figure }) => figure), atMost('the slowest of them: time', slowest, 50, ' ms')];
}

/** The shortest time of one call: nothing else ran meanwhile. What it throws is its answer. */
function millisecondsOf(parse: Parser['parse'], event: APIGatewayProxyEvent): number {
  const times = Array.from({ length: TURNS }, () => {
    const startedAt = performance.now();
    try {
      parse(event);
    } catch {
      // A refusal takes its time too.
    }
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
