/**
 * The page's permissions (Content Security Policy Level 3): only its own files, requests
 * to its own origin and to the API. Scalar requires inline styles; inline scripts are blocked.
 *
 * @param connect further origins that it may send requests to
 */
export const contentSecurityPolicy = (...connect: string[]): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; ` +
  `connect-src ${["'self'", ...connect].join(' ')}; base-uri 'none'; form-action 'none'`;

/** The policy as a header, with `frame-ancestors`, which browsers ignore in the page. */
export const policyHeader = (...connect: string[]): string =>
  `${contentSecurityPolicy(...connect)}; frame-ancestors 'none'`;
