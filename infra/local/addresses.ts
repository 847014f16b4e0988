import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { LocalServerError } from './local-server-error.ts';

/** @throws LocalServerError if the address cannot be used */
export async function listen(
  server: Server,
  host: string,
  port: number,
): Promise<Pick<AddressInfo, 'address' | 'port'>> {
  await once(server.listen(port, host), 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new LocalServerError(listeningFault(error, host, port));
  });
  const bound = server.address();
  return bound !== null && typeof bound === 'object' ? bound : { address: host, port };
}

function listeningFault(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use. Choose another with --port, or --port 0 for any.`;
  if (error.code === 'EACCES') return `Port ${port} requires root permissions. Choose one above 1023 with --port.`;
  return `The address ${host} cannot be used: ${error.message}. Choose another with --host.`;
}

/** The host in a URL on this machine for a server, which may listen on all addresses. */
export function ownHost({ address }: Pick<AddressInfo, 'address' | 'port'>): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}

/** An address in its usual form; a dual-stack socket maps IPv4 addresses to IPv6. */
export const bareAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

/** The host in a displayed URL. */
export function urlHost(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Waits briefly for responses in progress. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const timer = setTimeout(() => server.closeAllConnections(), 300);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(timer);
}

/** The parts of a request that identify its sender. */
type Caller = Pick<IncomingMessage, 'headers'> & { readonly socket: Pick<Socket, 'localAddress' | 'remoteAddress'> };

/**
 * Why a call to database, control plane or outputs is refused; undefined if it is allowed. They accept programs on
 * this machine and the server's own page.
 */
export function callerRefusal({ headers, socket }: Caller): string | undefined {
  const remote = bareAddress(socket.remoteAddress ?? '');
  if (remote !== bareAddress(socket.localAddress ?? '') && !isLoopback(remote)) {
    return 'This server accepts such calls from its own machine only';
  }
  // A tunnel or a proxy on this machine forwards remote calls.
  if (['x-forwarded-for', 'forwarded', 'via'].some((name) => name in headers)) {
    return 'This server accepts no such calls through a proxy';
  }
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if ((origin !== undefined && origin !== `http://${host}`) || site === 'cross-site' || site === 'same-site') {
    return 'This server accepts such calls from its own web page only';
  }
  return undefined;
}

/**
 * Whether a `Host` is a name that only this server can have, with or without a port. Any other name could belong to a
 * remote web page and resolve to this machine (DNS rebinding). Addresses are never resolved, nor are names that end
 * in `.localhost` by remote servers (RFC 6761 §6.3).
 *
 * @param listensAs name or address of the option `--host`
 */
export function isOwnName(host: string, listensAs: string): boolean {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  const machine = hostname().toLowerCase();
  const [label] = machine.split('.', 1);
  const names = ['localhost', machine, `${label}`, `${label}.local`, listensAs.toLowerCase()];
  return names.includes(name) || name.endsWith('.localhost') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Whether only this machine can reach a name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
