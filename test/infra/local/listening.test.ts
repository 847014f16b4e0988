import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { closeServer, listen, ownHost, urlHost } from '../../../infra/local/listening.ts';

describe('a server', () => {
  test('tells where it listens, and can be closed twice', async () => {
    const server = createServer();
    const { address, port } = await listen(server, '127.0.0.1', 0);
    await closeServer(server);
    await closeServer(server);

    expect(address).toBe('127.0.0.1');
    expect(port).toBeGreaterThan(0);
    expect(server.listening).toBe(false);
  });

  test('says in one line where it cannot listen', async () => {
    await expect(listen(createServer(), '192.0.2.1', 0)).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(/^The address 192\.0\.2\.1 cannot be used: [^\n]+ Choose another with --host\.$/),
    });
  });
});

describe('the host in a URL', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
    ['192.168.1.5', '192.168.1.5'],
  ])('by which this machine reaches %s is %s', (address, host) => {
    expect(ownHost({ address, port: 3000 })).toBe(host);
  });

  test.each([
    ['127.0.0.1', 'localhost'],
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost'],
    ['fe80::1', '[fe80::1]'],
    ['pets.example.com', 'pets.example.com'],
  ])('for people that stands for %s is %s', (address, host) => {
    expect(urlHost(address)).toBe(host);
  });
});
