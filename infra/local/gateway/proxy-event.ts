import { account } from '../../local-endpoint.ts';
import { type GatewayRequest, groupByName, headerValues, lastValues } from './messages.ts';

/** Where the request goes in the API. */
export interface RoutedTo {
  readonly apiId: string;
  readonly stage: string;
  readonly resourceId: string;
  readonly resourcePath: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

export interface RequestEvent extends Record<string, unknown> {
  readonly requestContext: Readonly<Record<string, unknown>>;
}

/**
 * The part of the event that a REQUEST authorizer and an AWS_PROXY integration (payload version 1.0) share.
 * Shape: API Gateway developer guide, "Lambda proxy integrations" and "Lambda authorizer input".
 */
export function requestEvent(request: GatewayRequest, to: RoutedTo): RequestEvent {
  const multiValueHeaders = groupByName([...request.headers, ...forwardingHeaders(request)]);
  const multiValueQuery = groupQuery(request.query);
  return {
    resource: to.resourcePath,
    path: request.path,
    httpMethod: request.method,
    headers: lastValues(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: nullIfEmpty(lastValues(multiValueQuery)),
    multiValueQueryStringParameters: nullIfEmpty(multiValueQuery),
    pathParameters: nullIfEmpty(to.pathParameters),
    stageVariables: null,
    requestContext: requestContext(request, to),
  };
}

/** The body as the event carries it: text, for the API has no binary media types. */
export function eventBody({ body }: GatewayRequest): { body: string | null; isBase64Encoded: boolean } {
  return { body: body.length === 0 ? null : body.toString(), isBase64Encoded: false };
}

function requestContext(request: GatewayRequest, to: RoutedTo): Record<string, unknown> {
  const domainName = headerValues(request.headers, 'host')[0] ?? '';
  return {
    accountId: account.id,
    apiId: to.apiId,
    domainName,
    domainPrefix: domainName.split('.')[0],
    extendedRequestId: request.id,
    httpMethod: request.method,
    identity: {
      accessKey: null,
      accountId: null,
      caller: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.sourceIp,
      user: null,
      userAgent: headerValues(request.headers, 'user-agent').at(-1) ?? null,
      userArn: null,
    },
    path: `/${to.stage}${request.path}`,
    protocol: request.protocol,
    requestId: request.id,
    requestTime: commonLogTime(request.receivedAt),
    requestTimeEpoch: request.receivedAt,
    resourceId: to.resourceId,
    resourcePath: to.resourcePath,
    stage: to.stage,
  };
}

/** `21/Nov/2026:09:30:00 +0000`, the Common Log Format that API Gateway uses. */
export function commonLogTime(epochMs: number): string {
  const [, day, month, year, time] = new Date(epochMs).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}

function forwardingHeaders({ sourceIp, headers, id }: GatewayRequest): [string, string][] {
  const port = /:(\d+)$/.exec(headerValues(headers, 'host')[0] ?? '')?.[1] ?? '80';
  return [
    ['X-Amzn-Trace-Id', `Root=1-${id.replaceAll('-', '').slice(0, 8)}-${id.replaceAll('-', '').slice(8)}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', port],
    ['X-Forwarded-Proto', 'http'],
  ];
}

function groupQuery(query: string): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) groups.set(name, [...(groups.get(name) ?? []), value]);
  return Object.fromEntries(groups);
}

function nullIfEmpty<Value extends object>(value: Value): Value | null {
  return Object.keys(value).length === 0 ? null : value;
}
