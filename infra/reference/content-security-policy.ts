/**
 * What the page may load, and where it may send (Content Security Policy Level 3): nothing but its own files, requests
 * to its own origin and to the API. Styles in place are Scalar's way; scripts in place are none.
 *
 * @param connect addresses beside the page's own origin that it may send requests to
 */
export const contentSecurityPolicy = (...connect: string[]): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; ` +
  `connect-src ${["'self'", ...connect].join(' ')}; base-uri 'none'; form-action 'none'`;

/** The policy as a header: `frame-ancestors` works there only; in the page itself browsers complain about it. */
export const policyHeader = (...connect: string[]): string =>
  `${contentSecurityPolicy(...connect)}; frame-ancestors 'none'`;
