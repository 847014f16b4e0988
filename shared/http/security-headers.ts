/**
 * Headers of every answer, whoever makes it: nothing is kept by caches, taken for another type, or asked for without TLS
 * again (OWASP REST Security Cheat Sheet, "Security Headers").
 */
export const securityHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=63072000',
} as const;
