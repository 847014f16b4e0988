import type { Context } from 'aws-lambda';

interface Rehearsed {
  readonly httpMethod: string;
  readonly petId: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** In the place of the gateway's id of a request. */
const REHEARSAL = 'rehearsal';

const authorizer = {
  outcome: 'ADMITTED',
  access: 'full',
  recordId: REHEARSAL,
  limit: '1',
  remaining: '0',
  reset: '1',
  rateLimitPolicy: '',
  rateLimit: '',
  retryAfter: '1',
};

/**
 * Carries out a request of no client, while Lambda initialises the function with all of its processor: the first real one
 * then finds everything connected, loaded and compiled. It must change nothing; it is not logged.
 */
export function rehearse(
  handler: (event: never, context: Context) => Promise<unknown>,
  { httpMethod, petId, headers = {}, body = '' }: Rehearsed,
): Promise<unknown> {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const requestContext = { requestId: REHEARSAL, authorizer };
  const request = { httpMethod, pathParameters: { petId }, multiValueHeaders, body, isBase64Encoded: false };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of an event, and of the context, that is read
  return handler({ ...request, requestContext } as never, {} as Context);
}

export const isRehearsal = ({ requestContext }: { readonly requestContext: { readonly requestId: string } }): boolean =>
  requestContext.requestId === REHEARSAL;
