import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { type ErrorCode, errorCatalog } from '../contract/errors.ts';
import type { AuthorizerContext } from './authorizer-context.ts';
import { noLimitContext } from './verdict-context.ts';
import { helpLink } from './response-headers.ts';

/** Why a request is denied. */
export type DenialCode = Extract<ErrorCode, 'API_KEY_MISSING' | 'API_KEY_INVALID'>;

/** `WWW-Authenticate` for each: without `error` if no key was sent (RFC 6750 §3.1). */
export const challenges = {
  API_KEY_MISSING: 'Bearer realm="pet-store-inventory"',
  API_KEY_INVALID: 'Bearer realm="pet-store-inventory", error="invalid_token"',
} as const satisfies Record<DenialCode, string>;

/** Allows a request, metered on the usage plan of `usageIdentifierKey`. */
export function allow(
  methodArn: string,
  principalId: string,
  usageIdentifierKey: string,
  context: AuthorizerContext,
): APIGatewayAuthorizerResult {
  return { principalId, usageIdentifierKey, policyDocument: policy('Allow', methodArn), context: { ...context } };
}

interface DenialOptions {
  /** Replaces the message of the catalog. */
  readonly message?: string | undefined;
  /** Origin of the reference page, if there is one. */
  readonly page?: string | undefined;
}

/** Denies a request. The gateway's ACCESS_DENIED response builds the 401 from this context. */
export function deny(
  methodArn: string,
  code: DenialCode,
  now: number,
  { message = errorCatalog[code].message, page }: DenialOptions = {},
): APIGatewayAuthorizerResult {
  const help = page !== undefined && { help: helpLink(page, code) };
  const context = {
    code,
    message: insideQuotes(message),
    challenge: challenges[code],
    ...help,
    ...noLimitContext(now),
  };
  return { principalId: 'anonymous', policyDocument: policy('Deny', methodArn), context };
}

/** The gateway copies the message into its JSON unescaped. */
const insideQuotes = (text: string): string => JSON.stringify(text).slice(1, -1);

function policy(Effect: 'Allow' | 'Deny', methodArn: string): APIGatewayAuthorizerResult['policyDocument'] {
  return {
    Version: '2012-10-17',
    Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: everyMethodOfStage(methodArn) }],
  };
}

/** The path of a method ARN comes from the caller and may hold wildcards, so only API and stage are used. */
function everyMethodOfStage(methodArn: string): string {
  return `${methodArn.split('/', 2).join('/')}/*`;
}
