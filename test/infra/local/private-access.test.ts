import { hostname } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { isLoopback, isOwnName, refusalOf } from '../../../infra/local/private-access.ts';

interface Call {
  readonly listensAs?: string;
  readonly isOpen?: boolean;
  readonly to?: string;
  readonly from?: string;
  readonly port?: number;
  readonly host?: string | undefined;
  readonly origin?: string;
  readonly site?: string;
}

/** Whether a host on port 3000 of this machine takes a call. */
function isTaken(call: Call): boolean {
  const { listensAs = '127.0.0.1', isOpen = false, to = '127.0.0.1', from = '127.0.0.1', port = 3000 } = call;
  const { host = 'localhost:3000', origin, site } = call;
  const headers = {
    ...('host' in call && call.host === undefined ? {} : { host }),
    ...(origin !== undefined && { origin }),
    ...(site !== undefined && { 'sec-fetch-site': site }),
  };
  const socket = { localAddress: to, localPort: port, remoteAddress: from };
  return refusalOf({ headers, socket }, { host: listensAs, isOpen }) === undefined;
}

const lan = { listensAs: '0.0.0.0', to: '::ffff:192.168.1.5', host: '192.168.1.5:3000' };

describe('The private part of the host takes a call', () => {
  test.each<[string, Call]>([
    ['to localhost', {}],
    ['to the name that it listens on', { listensAs: 'pets.test', host: 'pets.test:3000' }],
    ['of a page of its own', { origin: 'http://localhost:3000', site: 'same-origin' }],
    ['of this machine to an address that others reach', { ...lan, from: '::ffff:192.168.1.5' }],
    ['of another machine where it is open', { ...lan, from: '192.168.1.9', isOpen: true }],
  ])('%s', (_, call) => {
    expect(isTaken(call)).toBe(true);
  });
});

describe('The private part of the host refuses a call', () => {
  test.each<[string, Call]>([
    ['to a name that was made to resolve to this machine', { host: 'rebound.example.com:3000' }],
    ['without Host', { host: undefined }],
    ['of a page elsewhere', { origin: 'https://example.com' }],
    ['that a page elsewhere has a browser make', { site: 'cross-site' }],
    ['of another machine', { ...lan, from: '192.168.1.9' }],
  ])('%s', (_, call) => {
    expect(isTaken(call)).toBe(false);
  });
});

test.each([
  ['localhost', true],
  ['LOCALHOST:3000', true],
  ['127.0.0.1:3000', true],
  ['192.168.1.5:3000', true],
  ['[fe80::1]:3000', true],
  [`${hostname()}:3000`, true],
  ['pets.test', true],
  ['rebound.example.com:3000', false],
  ['localhost.example.com', false],
  ['127.0.0.1.example.com:3000', false],
  ['a"onload="alert(1)', false],
  ['', false],
])('That a host which listens as pets.test answers to %s is %s', (host, expected) => {
  expect(isOwnName(host, 'pets.test')).toBe(expected);
});

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['0.0.0.0', false],
])('That only this machine reaches %s is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
