import { answering } from './test-functions.ts';

/** The usage identifier of {@link admission}. */
export const CUSTOMER = 'a-customer';

const policyDocument = (Effect: 'Allow' | 'Deny') => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: '*' }],
});

/** What an authorizer answers to let a request through. */
export const admission = {
  principalId: 'k1',
  policyDocument: policyDocument('Allow'),
  usageIdentifierKey: CUSTOMER,
  context: {
    outcome: 'ADMITTED',
    limit: '60',
    remaining: '59',
    reset: '1795253460',
    rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
    rateLimit: '"minute";r=59;t=30, "day";r=999;t=52200',
    retryAfter: '7',
  },
};

/** What an authorizer answers to refuse a request. */
export const denial = {
  principalId: 'anonymous',
  policyDocument: policyDocument('Deny'),
  context: {
    code: 'API_KEY_MISSING',
    message: 'Send your key.',
    challenge: 'Bearer realm="r"',
    limit: '0',
    remaining: '0',
    reset: '9',
    rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
    rateLimit: '"minute";r=0;t=9, "day";r=0;t=99',
    retryAfter: '1',
  },
};

/** Source of an authorizer that lets every request through. */
export const admitting = answering(admission);

/** The limit headers of the gateway's own answers to requests that {@link admission} lets through. */
export const limitsOfCustomer = {
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253460',
  'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
  RateLimit: '"minute";r=59;t=30, "day";r=999;t=52200',
};

/** The limit headers of the gateway's own answers where nobody has looked at the key. */
export const limitsOfNobody = {
  'X-RateLimit-Limit': '0',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '0',
  'RateLimit-Policy': '"minute";q=0;w=60, "day";q=0;w=86400',
  RateLimit: '"minute";r=0;t=0, "day";r=0;t=0',
};
