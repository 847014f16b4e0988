import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import type { StreamedReply } from './reply.ts';
import { requestHeader } from './request-header.ts';

/** API Gateway does not compress what is streamed. Each part is flushed, so that none waits for the next. */
export function compressed(event: APIGatewayProxyEvent, reply: StreamedReply): StreamedReply {
  const headers = { ...reply.headers, Vary: 'Accept-Encoding' };
  const accepted = { headers: { 'accept-encoding': requestHeader(event, 'Accept-Encoding').join(', ') } };
  if (new Negotiator(accepted).encoding(['gzip', 'identity']) !== 'gzip') return { ...reply, headers };
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  // What goes wrong in one goes on through the other, to whoever reads it.
  pipeline(typeof reply.body === 'string' ? Readable.from(reply.body) : reply.body, gzip, () => undefined);
  return { ...reply, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: gzip };
}
