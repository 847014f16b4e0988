import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { bareAddress } from './listening.ts';

/** What of a request identifies its sender. */
export interface Caller {
  readonly headers: IncomingMessage['headers'];
  readonly socket: Pick<Socket, 'localAddress' | 'remoteAddress'>;
}

/**
 * Why a call to database, control plane or outputs is refused; undefined where it may pass. They answer programs on
 * this machine and the host's own page.
 */
export function refusalOf({ headers, socket }: Caller): string | undefined {
  const remote = bareAddress(socket.remoteAddress ?? '');
  if (remote !== bareAddress(socket.localAddress ?? '') && !isLoopback(remote)) {
    return 'This host takes such calls from its own machine alone';
  }
  // A tunnel or a proxy on this machine brings calls from elsewhere.
  if (['x-forwarded-for', 'forwarded', 'via'].some((name) => name in headers)) {
    return 'This host takes such calls through no proxy';
  }
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if ((origin !== undefined && origin !== `http://${host}`) || site === 'cross-site' || site === 'same-site') {
    return 'This host takes such calls from no web page but its own';
  }
  return undefined;
}

/**
 * Whether a `Host` is a name that only this host can have, with or without a port. A web page of any other could be one
 * from elsewhere, whose name was made to resolve to this machine. An address is never resolved, nor is a name that ends
 * in `.localhost` by anyone else (RFC 6761 §6.3).
 *
 * @param listensAs name or address that the host was started with
 */
export function isOwnName(host: string, listensAs: string): boolean {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  const machine = hostname().toLowerCase();
  const [label] = machine.split('.', 1);
  const names = ['localhost', machine, `${label}`, `${label}.local`, listensAs.toLowerCase()];
  return names.includes(name) || name.endsWith('.localhost') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Whether a name or address is one that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
