import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type GatewayRequest, requestContext, requestEvent } from '../../infra/local/gateway/request.ts';
import { type ApiRequest, readRequest } from '../../shared/http/request.ts';
import { corsHeaders, securityHeaders } from '../../shared/http/response-headers.ts';

/** What the authorizer hands over with an admitted request: every value is text. */
export const admittedContext = {
  principalId: 'k3y1d',
  recordId: 'petstoreinventory0123456789abcdef',
  token: 'main/ly02',
  access: 'full',
  integrationLatency: 12,
  outcome: 'ADMITTED',
  limit: '60',
  remaining: '59',
  reset: '1750000080',
  rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
  rateLimit: '"minute";r=59;t=30, "day";r=999;t=31950',
  retryAfter: '1',
};

/** The limit headers of every response to an admitted request. */
export const admittedLimits = {
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1750000080',
  'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
  RateLimit: '"minute";r=59;t=30, "day";r=999;t=31950',
};

/** The headers that every response to an admitted request carries. */
export const admittedHeaders = { ...admittedLimits, ...corsHeaders, ...securityHeaders };

interface EventParts {
  readonly method?: string;
  readonly resource?: string;
  readonly pathParameters?: Record<string, string>;
  /** Header names as the client wrote them; several values where a header was sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Without the question mark. */
  readonly query?: string;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  /** The authorizer's context; null where there was no authorizer. */
  readonly authorizer?: Record<string, unknown> | null;
}

/** The event that a REST API's Lambda proxy integration sends. */
export function aProxyEvent({
  method = 'GET',
  resource = '/inventory',
  pathParameters = {},
  headers = {},
  body,
  isBase64Encoded = false,
  query = '',
  authorizer = admittedContext,
}: EventParts = {}): APIGatewayProxyEvent {
  const path = resource.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathParameters[name] ?? '');
  const fields = Object.entries({ Authorization: 'Bearer psk_x', Host: 'example.com', ...headers }).flatMap(
    ([name, values]) => [values].flat().map((value): [string, string] => [name, value]),
  );
  const request: GatewayRequest = {
    id: '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d',
    receivedAt: Date.UTC(2026, 10, 21, 9, 30, 0, 250),
    method,
    path,
    query,
    headers: fields,
    body: Buffer.alloc(0),
    bodyTooLarge: false,
    sourceIp: '203.0.113.7',
  };
  const context = { ...requestContext(request, { apiId: 'a1b2c3d4e5', stage: 'v1' }), authorizer };
  const event = requestEvent(request, { resourcePath: resource, pathParameters }, context);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types want more of the caller's identity
  return { ...event, body: body ?? null, isBase64Encoded } as unknown as APIGatewayProxyEvent;
}

/** The same, as an operation gets it. */
export const aRequest = (parts: EventParts = {}): ApiRequest => readRequest(aProxyEvent(parts));

/** What Lambda passes beside the event, as far as it is read. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no function reads the rest of it
export const lambdaContext = { getRemainingTimeInMillis: () => 5_000 } as Context;

/** Invokes a function that answers at once. */
export async function responseTo<Event, Answer>(
  handler: (event: Event, context: Context) => Promise<Answer | undefined>,
  event: Event,
): Promise<Answer> {
  const response = await handler(event, lambdaContext);
  if (response === undefined) throw new Error('The function took the event for a probe');
  return response;
}
