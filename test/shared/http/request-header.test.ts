import { describe, expect, test } from '@jest/globals';
import { requestHeader } from '../../../shared/http/request-header.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

describe('a request header', () => {
  test.each(['If-Match', 'if-match', 'IF-MATCH', 'iF-mAtCh'])('sent as %s is found', (name) => {
    expect(requestHeader(aProxyEvent({ headers: { [name]: '"a"' } }), 'If-Match')).toEqual(['"a"']);
  });

  test('that was sent several times has all its values, in their order', () => {
    expect(requestHeader(aProxyEvent({ headers: { Accept: ['b', 'a', 'b'] } }), 'accept')).toEqual(['b', 'a', 'b']);
  });

  test('that was sent in several cases has all its values', () => {
    expect(requestHeader(aProxyEvent({ headers: { 'If-Match': '"a"', 'if-match': '"b"' } }), 'If-Match')).toEqual([
      '"a"',
      '"b"',
    ]);
  });

  test('that is empty has an empty value', () => {
    expect(requestHeader(aProxyEvent({ headers: { 'If-Match': '' } }), 'If-Match')).toEqual(['']);
  });

  test.each(['If-Match', 'constructor', '__proto__', ''])('%j that was not sent has none', (name) => {
    expect(requestHeader(aProxyEvent(), name)).toEqual([]);
  });

  test('is not found where API Gateway sends no headers', () => {
    const noHeaders: Record<string, undefined> = {};

    expect(requestHeader({ ...aProxyEvent(), multiValueHeaders: noHeaders }, 'Host')).toEqual([]);
    expect(requestHeader({ ...aProxyEvent(), multiValueHeaders: { Host: undefined } }, 'Host')).toEqual([]);
  });
});
