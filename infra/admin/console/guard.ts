import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { withTarget } from '../text-format.ts';
import { layout, markup } from './markup.ts';

/** Forms that can be open at once; the oldest are forgotten. Each page of the stock has some 50. */
const MAX_TICKETS = 100_000;

const newSecret = (): string => randomBytes(16).toString('base64url');

/** Each form has one. It can be used once, at the address that it was made for. */
export class Tickets {
  readonly #paths = new Map<string, string>();

  issue(path: string): string {
    const ticket = newSecret();
    this.#paths.set(ticket, path);
    const [oldest = ''] = this.#paths.keys();
    if (this.#paths.size > MAX_TICKETS) this.#paths.delete(oldest);
    return ticket;
  }

  use(ticket: unknown, path: string): boolean {
    const isGood = typeof ticket === 'string' && this.#paths.get(ticket) === path;
    if (isGood) this.#paths.delete(ticket);
    return isGood;
  }
}

const HEADERS = {
  // Only the console's own files, no inline scripts or styles, no frames.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  // With `no-referrer` browsers send forms with `Origin: null`, which could come from any page.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export const headers: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
};

/** Refuses requests that came by another name, as with DNS rebinding. */
export function ownName(origin: string): MiddlewareHandler {
  const { host } = new URL(origin);
  return async (c, next) =>
    c.req.header('Host') === host ? next() : refuse(c, 403, `The console answers at ${origin} alone.`);
}

/** Refuses requests that another page has made. */
export function ownRequests(origin: string): MiddlewareHandler {
  return async (c, next) => {
    const { 'sec-fetch-site': site = 'none', origin: from } = c.req.header();
    const isOwn = from === undefined ? c.req.method !== 'POST' : from === origin;
    if (isOwn && (site === 'none' || site === 'same-origin')) return next();
    return refuse(c, 403, 'The request came from another page, and nothing was done.');
  };
}

/** What lets a browser in. */
export interface Pass {
  /** Begins the path of every page: a slash and a secret. */
  readonly base: string;
  /** Is exchanged for the cookie, once. */
  readonly token: string;
}

export const newPass = (): Pass => ({ base: `/${newSecret()}`, token: newSecret() });

// Browsers send a cookie to all ports of this machine, also to programs of other users: it is bound to a path that those
// do not know. (A name like x.localhost would do in some browsers, and leads to ::1 too, where another program may listen.)

/** Lets in a browser that has the cookie, and is at the path of the pages. */
export class Session {
  readonly #pass: Pass;
  readonly #cookie: string;
  readonly #secret = newSecret();
  #isTokenOpen = true;

  constructor(origin: string, pass: Pass) {
    this.#pass = pass;
    this.#cookie = `console-${new URL(origin).port}`;
  }

  #isIn(c: Context): boolean {
    return c.req.path.startsWith(`${this.#pass.base}/`) && isSame(getCookie(c, this.#cookie), this.#secret);
  }

  readonly guard: MiddlewareHandler = async (c, next) => (this.#isIn(c) ? next() : refuse(c, 401, NO_SESSION));

  /** Exchanges the token for the cookie. Which page leads here does not matter: the token is enough. */
  readonly enter: Handler = (c) => {
    const { base, token } = this.#pass;
    if (!this.#isIn(c)) {
      if (!this.#isTokenOpen || !isSame(c.req.query('token'), token)) return refuse(c, 401, NO_SESSION);
      this.#isTokenOpen = false;
    }
    setCookie(c, this.#cookie, this.#secret, { httpOnly: true, sameSite: 'Strict', path: base });
    // Not a redirect: where another page or a file has led here, browsers would follow it without the cookie.
    c.header('Refresh', `0; url=${base}/overview`);
    return c.html(layout({ title: 'Console' }, markup`<p><a href="${base}/overview">To the overview</a></p>`));
  };
}

const NO_SESSION =
  'Open the address that the console has printed. It works once: for another, start the console again.';

/** The rows of a file with so many bytes are checked within two seconds. */
export const MAX_FORM_BYTES = 2 ** 20;

/** Refuses a form that is too large. @param option names the service, for the command that takes a file of any size */
export const formLimit = (option: string): MiddlewareHandler =>
  bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => refuse(c, 413, withTarget(TOO_LARGE, option)) });

const TOO_LARGE =
  'The file is larger than 1 MiB. Nothing was written. Import it at the terminal: npm run admin -- inventory import FILE';

/** Takes a form that has a ticket for its path under the base. */
export function ticketed(base: string, tickets: Tickets): MiddlewareHandler {
  return async (c, next) => {
    const form = await c.req.parseBody().catch(() => undefined);
    if (!form) return refuse(c, 400, 'The form could not be read. Nothing was done.');
    if (tickets.use(form['ticket'], c.req.path.slice(base.length))) return next();
    return refuse(c, 409, 'This form was sent already, or is too old. Nothing was done again.');
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function isSame(given = '', secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

type Refusal = 400 | 401 | 403 | 409 | 413;

function refuse(c: Context, status: Refusal, failure: string): Response | Promise<Response> {
  return c.html(layout({ title: 'Refused', failure }, markup`<h1>Refused</h1>`), status);
}
