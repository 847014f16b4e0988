import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { bareAddress } from './listening.ts';

/** The parts of a request that identify its sender. */
export interface Caller {
  readonly headers: IncomingMessage['headers'];
  readonly socket: Pick<Socket, 'localAddress' | 'remoteAddress'>;
}

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
