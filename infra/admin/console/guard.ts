import { randomBytes } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { timingSafeEqual } from 'hono/utils/buffer';
import { withTarget } from '../service/text.ts';
import { layout, markup } from './markup.ts';

const [none, self] = [["'none'"], ["'self'"]];

/** Allows only the console's own files: no inline scripts or styles, no frames. */
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
  // With `no-referrer`, browsers send forms with `Origin: null`, as any site could.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

/** Refuses requests with another Host (DNS rebinding). Responses are not cached. */
export function checkHost(origin: string): MiddlewareHandler {
  const { host } = new URL(origin);
  return async (c, next) => {
    c.header('Cache-Control', 'no-store');
    return c.req.header('Host') === host ? next() : refuse(c, 403, `The console is available only at ${origin}.`);
  };
}

const newSecret = (): string => randomBytes(16).toString('base64url');

/** Credentials of a session: the path prefix of every page, and a one-time token, exchanged for the cookie. */
export const newLoginLink = () => ({ base: `/${newSecret()}`, token: newSecret() });
export type LoginLink = Readonly<ReturnType<typeof newLoginLink>>;

/**
 * Admits requests with the session cookie under the secret path. Browsers send a cookie to all ports of this machine,
 * also to programs of other users, so it is bound to a path that they do not know. (A name such as x.localhost would
 * work in some browsers only, and resolves to ::1 too, where another program may listen.)
 */
export function session(origin: string, { base, token }: LoginLink) {
  const cookie = `console-${new URL(origin).port}`;
  const secret = newSecret();
  let isTokenOpen = true;
  const isIn = async (c: Context): Promise<boolean> =>
    c.req.path.startsWith(`${base}/`) && timingSafeEqual(getCookie(c, cookie) ?? '', secret);
  const guard: MiddlewareHandler = async (c, next) => ((await isIn(c)) ? next() : refuse(c, 401, NO_SESSION));
  /** Exchanges the token for the cookie, whatever the referring page. */
  const login: Handler = async (c) => {
    if (!(await isIn(c))) {
      const isToken = await timingSafeEqual(c.req.query('token') ?? '', token);
      if (!isTokenOpen || !isToken) return refuse(c, 401, NO_SESSION);
      isTokenOpen = false;
    }
    setCookie(c, cookie, secret, { httpOnly: true, sameSite: 'Strict', path: base });
    // Not a redirect: coming from another site or a file, browsers would follow it without the cookie.
    c.header('Refresh', `0; url=${base}/overview`);
    return c.html(layout({ title: 'Console' }, markup`<p><a href="${base}/overview">Open the overview</a></p>`));
  };
  return { guard, login };
}

const NO_SESSION = 'Open the link that the console has printed. It can be used once: restart the console for another.';

const TOO_LARGE =
  'The file is larger than 1 MiB. Nothing was written. Import it with the command: npm run admin -- inventory import FILE';

/** Refuses a form above 1 MiB, whose rows are checked within 2 s. @param option selects the service, for the message */
export const formLimit = (option: string): MiddlewareHandler =>
  bodyLimit({ maxSize: 2 ** 20, onError: (c) => refuse(c, 413, withTarget(TOO_LARGE, option)) });

export const refuse = (c: Context, status: 401 | 403 | 413, failure: string): Response | Promise<Response> =>
  c.html(layout({ title: 'Refused', failure }), status);
