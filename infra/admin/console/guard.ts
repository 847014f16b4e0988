import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { withTarget } from '../text-format.ts';
import { layout, markup } from './markup.ts';

const [none, self] = [["'none'"], ["'self'"]];

/** The console's own files alone, no scripts or styles in place, no frames. */
export const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: none,
    scriptSrc: self,
    styleSrc: self,
    imgSrc: self,
    connectSrc: self,
    formAction: self,
    baseUri: self,
    frameAncestors: none,
  },
  // With `no-referrer` browsers send forms with `Origin: null`, which could come from any page.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

/** Refuses requests that came by another name, as with DNS rebinding. No answer is kept. */
export function checkHost(origin: string): MiddlewareHandler {
  const { host } = new URL(origin);
  return async (c, next) => {
    c.header('Cache-Control', 'no-store');
    return c.req.header('Host') === host ? next() : refuse(c, 403, `The console answers at ${origin} alone.`);
  };
}

/** What lets a browser in. */
export interface LoginLink {
  /** Begins the path of every page: a slash and a secret. */
  readonly base: string;
  /** Is exchanged for the cookie, once. */
  readonly token: string;
}

const newSecret = (): string => randomBytes(16).toString('base64url');
export const newLoginLink = (): LoginLink => ({ base: `/${newSecret()}`, token: newSecret() });

/**
 * Lets in a browser that has the cookie, and is at the path of the pages: browsers send a cookie to all ports of this
 * machine, also to programs of other users, so it is bound to a path that those do not know. (A name like x.localhost
 * would do in some browsers, and leads to ::1 too, where another program may listen.)
 */
export function session(
  origin: string,
  { base, token }: LoginLink,
): { readonly login: Handler; readonly guard: MiddlewareHandler } {
  const cookie = `console-${new URL(origin).port}`;
  const secret = newSecret();
  let isTokenOpen = true;
  const isIn = (c: Context): boolean => c.req.path.startsWith(`${base}/`) && isSame(getCookie(c, cookie), secret);
  return {
    guard: async (c, next) => (isIn(c) ? next() : refuse(c, 401, NO_SESSION)),
    /** Exchanges the token for the cookie. Which page leads here does not matter: the token is enough. */
    login: (c) => {
      if (!isIn(c)) {
        if (!isTokenOpen || !isSame(c.req.query('token'), token)) return refuse(c, 401, NO_SESSION);
        isTokenOpen = false;
      }
      setCookie(c, cookie, secret, { httpOnly: true, sameSite: 'Strict', path: base });
      // Not a redirect: where another page or a file has led here, browsers would follow it without the cookie.
      c.header('Refresh', `0; url=${base}/overview`);
      return c.html(layout({ title: 'Console' }, markup`<p><a href="${base}/overview">To the overview</a></p>`));
    },
  };
}

const NO_SESSION =
  'Open the address that the console has printed. It works once: for another, start the console again.';

/** The rows of a file with so many bytes are checked within two seconds. */
const MAX_FORM_BYTES = 2 ** 20;

const TOO_LARGE =
  'The file is larger than 1 MiB. Nothing was written. Import it at the terminal: npm run admin -- inventory import FILE';

/** Refuses a form that is too large. @param option names the service, for the command that takes a file of any size */
export const formLimit = (option: string): MiddlewareHandler =>
  bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => refuse(c, 413, withTarget(TOO_LARGE, option)) });

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const isSame = (given = '', secret: string): boolean => timingSafeEqual(digest(given), digest(secret));

export function refuse(c: Context, status: 401 | 403 | 413, failure: string): Response | Promise<Response> {
  return c.html(layout({ title: 'Refused', failure }, markup`<h1>Refused</h1>`), status);
}
