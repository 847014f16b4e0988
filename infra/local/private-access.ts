import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { authority, bareAddress } from './listening.ts';

/** Who may call what a customer of the API never needs: the database, the control plane, the outputs of the stack. */
export interface PrivateAccess {
  /** Name or address that the host was told to listen on. */
  readonly host: string;
  /** Whether other machines may too. */
  readonly isOpen: boolean;
}

/** What of a request tells who sends it, and to whom. */
export interface Caller {
  readonly headers: Pick<IncomingMessage['headers'], 'host' | 'origin' | 'sec-fetch-site'>;
  readonly socket: Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress'>;
}

/**
 * Why a call to the private part of the host is refused; undefined where it may pass. A web page whose name resolves to
 * this machine is of the same origin as the host, but its browser still sends that name as `Host`.
 */
export function refusalOf({ headers, socket }: Caller, access: PrivateAccess): string | undefined {
  const { localAddress = '', remoteAddress = '', localPort = 0 } = socket;
  const own = bareAddress(localAddress);
  const remote = bareAddress(remoteAddress);
  if (!access.isOpen && remote !== own && !isLoopback(remote)) {
    return 'This host takes such calls from its own machine alone; npm start -- --open-database opens it to others';
  }
  const names = ['localhost', '127.0.0.1', '::1', own, access.host].map((name) => authority(name, localPort));
  const host = headers.host?.toLowerCase() ?? '';
  if (!names.includes(host)) return `This host takes such calls at its own address alone, which ${host} is not`;
  const { origin, 'sec-fetch-site': site } = headers;
  if ((origin !== undefined && origin !== `http://${host}`) || site === 'cross-site' || site === 'same-site') {
    return 'This host takes such calls from no web page but its own';
  }
  return undefined;
}

/**
 * Whether a `Host` is a name that only this host can have, with or without a port. A web page of any other could be one
 * from elsewhere, whose name was made to resolve to this machine. An address is never resolved, nor is a name that ends in
 * `.localhost` by anyone else (RFC 6761 §6.3).
 *
 * @param listensAs name or address that the host was told to listen on
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
