import { hostname } from 'node:os';
import { expect, test } from '@jest/globals';
import { isOwnName, refusalOf } from '../../../infra/local/private-access.ts';

const here = { localAddress: '127.0.0.1', remoteAddress: '127.0.0.1' };
const lan = { localAddress: '::ffff:192.168.1.5', remoteAddress: '::ffff:192.168.1.5' };

const refusal = expect.stringContaining('This host takes such calls');

test.each<[string, Parameters<typeof refusalOf>[0], unknown]>([
  ['a program on this machine', { headers: { host: 'localhost:3000' }, socket: here }, undefined],
  [
    'a page of its own',
    {
      headers: { host: 'localhost:3000', origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' },
      socket: here,
    },
    undefined,
  ],
  [
    'a program on this machine at an address that others reach',
    { headers: { host: '192.168.1.5:3000' }, socket: lan },
    undefined,
  ],
  [
    'another machine',
    { headers: { host: '192.168.1.5:3000' }, socket: { ...lan, remoteAddress: '192.168.1.9' } },
    refusal,
  ],
  ['a page elsewhere', { headers: { host: 'localhost:3000', origin: 'https://example.com' }, socket: here }, refusal],
  [
    'a page elsewhere that sends no origin',
    { headers: { host: 'localhost:3000', 'sec-fetch-site': 'cross-site' }, socket: here },
    refusal,
  ],
])('A call to the private part of the host by %s', (_, caller, expected) => {
  expect(refusalOf(caller)).toEqual(expected);
});

test.each([
  ['LOCALHOST:3000', true],
  ['192.168.1.5:3000', true],
  ['[fe80::1]:3000', true],
  [`${hostname()}:3000`, true],
  ['pets.test', true],
  ['rebound.example.com:3000', false],
  ['127.0.0.1.example.com:3000', false],
  ['', false],
])('That a host which listens as pets.test answers to %s is %s', (host, expected) => {
  expect(isOwnName(host, 'pets.test')).toBe(expected);
});
