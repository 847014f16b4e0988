import type { Server } from 'node:http';
import { LocalServerError } from './local-server-error.ts';

/** @throws LocalServerError if the address cannot be used */
export async function listen(server: Server, host: string, port: number): Promise<ListeningAddress> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new LocalServerError(listeningFault(error, host, port))),
    );
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return bound !== null && typeof bound === 'object' ? bound : { address: host, port };
}

/** The address of a server: an IP address and its port. */
export interface ListeningAddress {
  readonly address: string;
  readonly port: number;
}

function listeningFault(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use. Choose another with --port, or --port 0 for any.`;
  if (error.code === 'EACCES') return `Port ${port} requires root permissions. Choose one above 1023 with --port.`;
  return `The address ${host} cannot be used: ${error.message}. Choose another with --host.`;
}

/** The host in a URL on this machine for a server, which may listen on all addresses. */
export function ownHost({ address }: ListeningAddress): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}

/** An address in its usual form; a dual-stack socket maps IPv4 addresses to IPv6. */
export function bareAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** The host in a displayed URL. */
export function urlHost(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Waits briefly for responses in progress. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 300);
  await closed;
  clearTimeout(timer);
}
