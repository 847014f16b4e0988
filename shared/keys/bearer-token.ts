type MultiValueHeaders = Readonly<Record<string, readonly string[] | undefined>> | null;

const BEARER = /^Bearer +(\S+)$/i;

/**
 * The token of `Authorization: Bearer <token>` (spec §5, RFC 6750 §2.1), or undefined where the header is missing, is
 * sent more than once, or has another form.
 */
export function bearerToken(headers: MultiValueHeaders): string | undefined {
  const values = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    name.toLowerCase() === 'authorization' ? (value ?? []) : [],
  );
  return values.length === 1 ? BEARER.exec(values[0]?.trim() ?? '')?.[1] : undefined;
}
