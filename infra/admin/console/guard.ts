import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { layout, markup } from './markup.ts';

/** Forms that can be open at once; the oldest are forgotten. */
const MAX_TICKETS = 10_000;

export const newSecret = (): string => randomBytes(32).toString('base64url');

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

/** Headers of every page: only the console's own files, no inline scripts or styles, no frames, no caching. */
export const headers = (): MiddlewareHandler => {
  const secure = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // With `no-referrer` browsers send forms with `Origin: null`, which nothing could be told by.
    referrerPolicy: 'same-origin',
    strictTransportSecurity: false,
  });
  return (c, next) =>
    secure(c, async () => {
      await next();
      c.header('Cache-Control', 'no-store');
    });
};

/** Refuses requests that came by another name, as with DNS rebinding, and those that another page has made. */
export function ownRequests(origin: string): MiddlewareHandler {
  const { host } = new URL(origin);
  return async (c, next) => {
    if (c.req.header('Host') !== host) return refuse(c, 403, `The console answers at ${origin} alone.`);
    const { 'sec-fetch-site': site = 'none', origin: from } = c.req.header();
    const isOwn = from === undefined ? c.req.method !== 'POST' : from === origin;
    if (isOwn && (site === 'none' || site === 'same-origin')) return next();
    return refuse(c, 403, 'The request came from another page, and nothing was done.');
  };
}

/** Lets in a browser that has the cookie. The token is exchanged for it, once. A form needs a ticket besides. */
export function session(origin: string, token: string, tickets: Tickets): MiddlewareHandler {
  const cookie = `console-${new URL(origin).port}`;
  const secret = newSecret();
  let isTokenOpen = true;
  return async (c, next) => {
    const { token: given } = c.req.query();
    const isIn = isSame(getCookie(c, cookie), secret);
    if (given !== undefined && (isIn || (isTokenOpen && isSame(given, token)))) {
      isTokenOpen &&= isIn;
      setCookie(c, cookie, secret, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect('/keys', 303);
    }
    if (!isIn)
      return refuse(
        c,
        401,
        'Open the address that the console has printed. It works once: for another, start the console again.',
      );
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    const { ticket } = await c.req.parseBody();
    if (tickets.use(ticket, c.req.path)) return next();
    return refuse(
      c,
      409,
      'This form was sent already, or is too old. Nothing was done again.',
      c.req.header('Referer'),
    );
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function isSame(given = '', secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

function refuse(c: Context, status: 401 | 403 | 409, failure: string, back?: string): Response | Promise<Response> {
  const link = back === undefined ? markup`` : markup`<p><a href="${new URL(back).pathname}">Back</a></p>`;
  return c.html(layout({ title: 'Refused', failure }, markup`<h1>Refused</h1>${link}`), status);
}
