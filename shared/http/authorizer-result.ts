import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { type ErrorCode, errorCatalog } from '../contract/errors.ts';
import type { AuthorizerContext } from './authorizer-context.ts';
import { noLimitContext } from './verdict-context.ts';
import { helpLink } from './response-headers.ts';

/** Why a request is denied. */
export type DenialCode = Extract<ErrorCode, 'API_KEY_MISSING' | 'API_KEY_INVALID'>;

/** What `WWW-Authenticate` says with each: no error where there is no key to find fault with (RFC 6750 §3.1). */
export const challenges = {
  API_KEY_MISSING: 'Bearer realm="pet-store-inventory"',
  API_KEY_INVALID: 'Bearer realm="pet-store-inventory", error="invalid_token"',
} as const satisfies Record<DenialCode, string>;

/** Lets a request through, metered on the usage plan of `usageIdentifierKey`. */
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
  /** Origin of the reference page, where there is one. */
  readonly page?: string | undefined;
}

/** Refuses a request. The gateway's ACCESS_DENIED response builds the 401 from this context. */
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

/** The gateway puts the message between the quotes of its JSON as it is. */
const insideQuotes = (text: string): string => JSON.stringify(text).slice(1, -1);

function policy(Effect: 'Allow' | 'Deny', methodArn: string): APIGatewayAuthorizerResult['policyDocument'] {
  return {
    Version: '2012-10-17',
    Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: everyMethodOfStage(methodArn) }],
  };
}

/** The path of a method ARN is the caller's and may hold wildcards, so only the API and the stage are taken over. */
function everyMethodOfStage(methodArn: string): string {
  return `${methodArn.split('/', 2).join('/')}/*`;
}
