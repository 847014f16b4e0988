import { TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { AdminError, awsReason, reasonOf } from '../../../infra/admin/admin-error.ts';

const $metadata = {};
const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });
const named = (message: string, name: string): Error => Object.assign(new Error(message), { name });

describe('reasonOf', () => {
  test.each([
    ['the message', new Error('it broke'), 'it broke'],
    ['no full stop', new Error('It broke. Badly.'), 'It broke. Badly'],
    ['one line', new Error('it broke\n  and again'), 'it broke and again'],
    ['the name where there is no message', named('', 'TimeoutError'), 'TimeoutError'],
    ['the first of several', new AggregateError([new Error('no IPv6'), new Error('no IPv4')]), 'no IPv6'],
    ['a text as it is', 'broken', 'broken'],
    [
      'no hints for programmers',
      new Error(
        'not JSON\n  Deserialization error: to see the raw response, inspect the hidden field {error}.$response on this object.',
      ),
      'not JSON',
    ],
  ])('is %s', (_, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });
});

describe('awsReason', () => {
  test.each([
    [
      'an exception of the SDK',
      new TooManyRequestsException({ message: 'Too Many Requests', $metadata }),
      'AWS could not be used: Too Many Requests (TooManyRequestsException)',
    ],
    [
      'one of several lines',
      new ResourceNotFoundException({ message: 'Not\nfound.', $metadata }),
      'AWS could not be used: Not found (ResourceNotFoundException)',
    ],
    [
      'a refused connection',
      withCode('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      'AWS could not be used: connect ECONNREFUSED 127.0.0.1:1 (Error)',
    ],
    [
      'an unknown name',
      withCode('getaddrinfo ENOTFOUND aws', 'ENOTFOUND'),
      'AWS could not be used: getaddrinfo ENOTFOUND aws (Error)',
    ],
    ['a time-out', named('socket hang up', 'TimeoutError'), 'AWS could not be used: socket hang up (TimeoutError)'],
    [
      'missing credentials',
      Object.assign(named('Could not load credentials', 'CredentialsProviderError'), { tryNextLink: false }),
      'AWS could not be used: Could not load credentials (CredentialsProviderError)',
    ],
  ])('tells of %s', (_, error, reason) => {
    expect(awsReason(error)).toBe(reason);
  });

  test.each([
    ['a mistake of our own', new TypeError('x is undefined')],
    ['what an admin did wrong', new AdminError('no such key')],
    ['a code of Node', withCode('bad', 'ERR_INVALID_ARG_TYPE')],
    ['what is no error', 'ECONNREFUSED'],
  ])('leaves %s to others', (_, error) => {
    expect(awsReason(error)).toBeUndefined();
  });
});
