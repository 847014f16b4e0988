import { describe, expect, test } from '@jest/globals';
import { HostError } from '../../../../infra/local/host-error.ts';
import { matchesPattern, parseEventPattern } from '../../../../infra/local/events/event-pattern.ts';

const event = {
  source: 'aws.apigateway',
  'detail-type': 'AWS API Call via CloudTrail',
  resources: ['one', 'two'],
  detail: { eventName: 'CreateApiKey', readOnly: false, count: 5, nothing: null, requestParameters: { apiKey: 'k1' } },
};

describe('an event matches a pattern', () => {
  test.each([
    ['with its source', { source: ['aws.apigateway'] }],
    ['with one of several values', { source: ['aws.ec2', 'aws.apigateway'] }],
    ['with a flag', { detail: { readOnly: [false] } }],
    ['with a number', { detail: { count: [5] } }],
    ['with null', { detail: { nothing: [null] } }],
    ['with one of its own list', { resources: ['two', 'three'] }],
    ['deep inside', { detail: { requestParameters: { apiKey: ['k1'] } } }],
    ['with all of several members', { source: ['aws.apigateway'], detail: { eventName: ['CreateApiKey'] } }],
    ['without any member', {}],
  ])('%s', (_, pattern) => {
    expect(matchesPattern(parseEventPattern(pattern, 'Rule'), event)).toBe(true);
  });
});

describe('an event does not match a pattern', () => {
  test.each([
    ['with another value', { source: ['aws.ec2'] }],
    ['with the beginning of a value', { source: ['aws.'] }],
    ['with a value in another case', { source: ['AWS.APIGATEWAY'] }],
    ['with a text for a flag', { detail: { readOnly: ['false'] } }],
    ['with a text for a number', { detail: { count: ['5'] } }],
    ['with one of its members only', { source: ['aws.apigateway'], detail: { eventName: ['DeleteApiKey'] } }],
    ['with a member that it does not have', { detail: { errorCode: ['x'] } }],
    ['with null for a member that it does not have', { detail: { errorCode: [null] } }],
    ['with a member of every object', { constructor: { name: ['Object'] } }],
    ['that looks into a text', { source: { name: ['aws'] } }],
    ['with none of its list', { resources: ['three'] }],
  ])('%s', (_, pattern) => {
    expect(matchesPattern(parseEventPattern(pattern, 'Rule'), event)).toBe(false);
  });
});

describe('a pattern stops the local host', () => {
  test.each([
    ['with a prefix', { source: [{ prefix: 'aws.' }] }, /^Rule\.source: .*\{"prefix":"aws\."\}/],
    ['with anything-but', { detail: { eventName: ['A', { 'anything-but': 'B' }] } }, /^Rule\.detail\.eventName: /],
    ['with exists', { detail: { errorCode: [{ exists: false }] } }, /exists/],
    ['with a choice', { $or: [{ source: ['a'] }, { source: ['b'] }] }, /^Rule\.\$or: /],
    ['with a value outside a list', { source: 'aws.apigateway' }, /^Rule\.source: /],
    ['with an empty list', { source: [] }, /^Rule\.source: /],
    ['with a list in a list', { source: [['a']] }, /^Rule\.source: /],
    ['that is none', null, /^Rule: /],
  ])('%s', (_, pattern, message) => {
    expect(() => parseEventPattern(pattern, 'Rule')).toThrow(HostError);
    expect(() => parseEventPattern(pattern, 'Rule')).toThrow(message);
  });
});
