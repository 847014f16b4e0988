export interface ContentSecurityPolicyOptions {
  /** Addresses beside the page's own origin that it may send requests to. */
  readonly connect?: readonly string[];
  /** `frame-ancestors` works in a header only; in the page itself browsers complain about it. */
  readonly framing?: boolean;
}

/**
 * What the page may load, and where it may send (Content Security Policy Level 3): nothing but its own files, requests
 * to its own origin and to the API. Styles in place are Scalar's way; scripts in place are none.
 */
export function contentSecurityPolicy({ connect = [], framing = true }: ContentSecurityPolicyOptions = {}): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    ...(framing ? ["frame-ancestors 'none'"] : []),
  ].join('; ');
}
