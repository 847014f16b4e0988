export interface Deprecation {
  /** Since when nobody should begin to use the operation. */
  readonly deprecatedAt: Date;
  /** From when on it may be gone. */
  readonly sunsetAt: Date;
  /** Where to read about it. */
  readonly page: string;
}

/** The headers of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and `Link` to what they say. */
export function deprecationHeaders({ deprecatedAt, sunsetAt, page }: Deprecation): Record<string, string> {
  const link = (relation: string): string => `<${page}/#description/deprecations>; rel="${relation}"; type="text/html"`;
  return {
    Deprecation: `@${Math.floor(deprecatedAt.getTime() / 1_000)}`,
    Sunset: sunsetAt.toUTCString(),
    Link: `${link('deprecation')}, ${link('sunset')}`,
  };
}
