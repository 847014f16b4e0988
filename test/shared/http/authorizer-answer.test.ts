import { describe, expect, test } from '@jest/globals';
import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { allow, deny } from '../../../shared/http/authorizer-answer.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';
const context = {
  outcome: 'ADMITTED',
  limit: '60',
  remaining: '59',
  reset: '1749990900',
  rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
  rateLimit: '"minute";r=59;t=30, "day";r=999;t=41130',
  retryAfter: '1',
} as const;

const policyOf = (effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: effect, Action: 'execute-api:Invoke', Resource: `${STAGE}/*` }],
});

const resourcesOf = ({ policyDocument }: APIGatewayAuthorizerResult) =>
  policyDocument.Statement.map((statement) => ('Resource' in statement ? statement.Resource : undefined));

describe('an answer of the authorizer', () => {
  test('that lets a request through names the key, its usage plan and the verdict', () => {
    expect(allow(`${STAGE}/GET/inventory`, 'k3y1d', 'usage-identifier', context)).toEqual({
      principalId: 'k3y1d',
      usageIdentifierKey: 'usage-identifier',
      policyDocument: policyOf('Allow'),
      context,
    });
  });

  test.each([
    ['API_KEY_MISSING', 'Send your API key in the header Authorization: Bearer <API_KEY>.'],
    ['API_KEY_INVALID', 'The API key is mistyped, unknown, disabled or expired.'],
  ] as const)('that refuses a request with %s brings what the 401 is built from', (code, message) => {
    expect(deny(`${STAGE}/GET/inventory`, code, NOW)).toEqual({
      principalId: 'anonymous',
      policyDocument: policyOf('Deny'),
      context: {
        code,
        message,
        limit: '0',
        remaining: '0',
        reset: '1749990900',
        rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
        rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
        retryAfter: '1',
      },
    });
  });

  test('that refuses a request is metered on no usage plan', () => {
    expect(deny(`${STAGE}/GET/inventory`, 'API_KEY_INVALID', NOW)).not.toHaveProperty('usageIdentifierKey');
  });
});

describe('the policy', () => {
  test.each([
    ['an operation', '/GET/inventory'],
    ['the root', '/GET/'],
    ['a long path', '/PATCH/inventory/42/a/b/c'],
    ['wildcards in the path', '/GET/*/?x/*'],
    ['another ARN in the path', '/GET/arn:aws:execute-api:*:*:*/*'],
  ])('is about the one stage, and takes nothing from the caller, for %s', (_, path) => {
    expect(resourcesOf(allow(STAGE + path, 'k', 'u', context))).toEqual([`${STAGE}/*`]);
    expect(resourcesOf(deny(STAGE + path, 'API_KEY_INVALID', NOW))).toEqual([`${STAGE}/*`]);
  });
});
