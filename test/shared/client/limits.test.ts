import { describe, expect, test } from '@jest/globals';
import { readLimits } from '../../../shared/client/limits.ts';

const NOW = 1_795_253_250_000;

const legacy = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '58', 'X-RateLimit-Reset': '1795253280' };
const least = { limit: 60, remaining: 58, reset: new Date(1_795_253_280_000) };
const none = { minute: undefined, day: undefined };

const limitsIn = (headers: Record<string, string>): unknown => readLimits(new Headers(headers), NOW);

describe('the limit headers of an answer', () => {
  test('name both windows', () => {
    const headers = {
      ...legacy,
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=58;t=30, "day";r=997;t=4000',
    };
    expect(limitsIn(headers)).toEqual({
      ...least,
      minute: { limit: 60, remaining: 58, reset: new Date(NOW + 30_000) },
      day: { limit: 1_000, remaining: 997, reset: new Date(NOW + 4_000_000) },
    });
  });

  test.each([
    ['with other space and order', '"minute" ; w=60; q=60,"day";q=1000', '"day";t=4000;r=997 ,"minute";t=30;r=58'],
    ['with parameters that are not known', '"minute";q=60;qu="requests", "day";q=1000;pk=:x:', '"minute";r=58;t=30;x'],
  ])('are understood %s', (_, policy, state) => {
    expect(limitsIn({ ...legacy, 'RateLimit-Policy': policy, RateLimit: state })).toMatchObject({
      minute: { limit: 60, remaining: 58, reset: new Date(NOW + 30_000) },
    });
  });

  test.each([
    ['are missing', {}],
    ['name another window', { 'RateLimit-Policy': '"hour";q=60', RateLimit: '"hour";r=58;t=30' }],
    ['lack a number', { 'RateLimit-Policy': '"minute";w=60', RateLimit: '"minute";r=58;t=30' }],
    ['make no sense', { 'RateLimit-Policy': '"minute', RateLimit: '"minute";r=-1;t=x' }],
  ])('leave the windows open where they %s', (_, headers) => {
    expect(limitsIn({ ...legacy, ...headers })).toEqual({ ...least, ...none });
  });

  test.each([
    ['are missing', {}],
    ['are not all there', { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '58' }],
    ['are no numbers', { ...legacy, 'X-RateLimit-Reset': 'soon' }],
  ])('say nothing where they %s', (_, headers) => {
    expect(limitsIn(headers)).toBeUndefined();
  });
});
