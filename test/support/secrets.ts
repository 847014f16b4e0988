import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashToken, isIssued } from '../../shared/keys/token.ts';

export const KEY_PATTERN = /psk_[0-9A-Za-z]{46}/g;

/** Where a secret stands; never the secret itself, or the report would be the next leak. */
export interface Leak {
  readonly kind: string;
  /** From 1 on. */
  readonly line: number;
}

const secretPatterns: Readonly<Record<string, RegExp>> = {
  'an API key': KEY_PATTERN,
  'an API key in hexadecimal': /70736b5f[0-9a-f]{92}/gi,
  'an API key in base64': /(?:cHNrX|Bza1|wc2tf)[0-9A-Za-z+/_-]{50}/g,
  'a bearer token': /Bearer +[0-9A-Za-z._~+/-]{20}/gi,
  'an AWS access key id': /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  'an AWS secret access key': /secret_?(?:access_?)?key["'\\]*\s*[:=]\s*["'\\]*[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])/gi,
  'an AWS signature': /\bSignature=[0-9a-f]{64}/gi,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/g,
  'a JSON web token': /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/g,
};

/** In a log, all that looks like a token's hash is one, except names of directories with a function's code. */
const logPatterns = {
  ...secretPatterns,
  'a hash': /(?<!asset\.)\b[0-9a-f]{64}\b/gi,
  'a hash in base64url': /(?<![\w+/=-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43}(?![\w+/-])/g,
};

/** Secrets in a text, of any kind, and in any form that a known key has. */
export function secretsIn(text: string, keys: Iterable<string> = [], patterns = secretPatterns): Leak[] {
  const looksLike = Object.entries(patterns).flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ kind, index })),
  );
  const known = [...keys].flatMap(formsOf).map(([form, kind]) => ({ kind, index: text.indexOf(form) }));
  return [...looksLike, ...known]
    .filter(({ index }) => index !== -1)
    .map(({ kind, index }) => ({ kind, line: text.slice(0, index).split('\n').length }));
}

/** The same in a log, where nothing that even looks like the hash of a key belongs. */
export const secretsInLog = (text: string, keys: Iterable<string> = []): Leak[] => secretsIn(text, keys, logPatterns);

/** @throws Error where a text has a key in it, or what is stored in place of one */
export function expectNoSecrets(text: string, keys: readonly string[]): void {
  const leaks = secretsIn(text, keys).map(({ kind, line }) => `line ${line}: ${kind}`);
  if (leaks.length > 0) throw new Error(`There are secrets in the text:\n${leaks.join('\n')}`);
}

/** The secret characters of a token, after its handle and before its checksum. */
export const secretOf = (token: string): string => token.slice(20, 44);

/** What a token can be known by, or half its secret. What API Gateway has in place of a token is no secret. */
function formsOf(token: string): [form: string, kind: string][] {
  if (isIssued(token)) return [];
  const hash = Buffer.from(hashToken(token), 'base64url');
  // A key of the console may be of common words, so that a piece of it says nothing.
  const pieces = token.startsWith('psk_') ? piecesOf(secretOf(token)) : [];
  return [
    [hash.toString('hex'), 'the hash of a known key'],
    [hash.toString('base64').replace('=', ''), 'the hash of a known key in base64'],
    [hash.toString('base64url'), 'the hash of a known key in base64'],
    [token, 'a known key'],
    [Buffer.from(token).toString('hex'), 'a known key in hexadecimal'],
    [Buffer.from(token).toString('base64url'), 'a known key in base64'],
    ...pieces.map((piece): [string, string] => [piece, 'a piece of a known key']),
  ];
}

/**
 * Half a secret in a row has one of them. Those of demo keys are hexadecimal, as the ids of requests are: in 1,000
 * lines of a log one of six characters stands by chance in one run of a hundred.
 */
function piecesOf(secret: string): string[] {
  const [length, starts] = /^[0-9a-f]+$/.test(secret) ? [8, [0, 4, 8, 12, 16]] : [6, [0, 6, 12, 18]];
  return starts.map((start) => secret.slice(start, start + length));
}

/**
 * Finds secrets in the logs of a server. Its last lines are written while it closes, which may delete the directory;
 * so the files are linked to from elsewhere before, and read after.
 *
 * @returns to call after; throws an Error that names file, line and kind of each secret, and no secret
 */
export function scanLogs(logDirectory: string): (keys: ReadonlySet<string>) => void {
  const links = mkdtempSync(join(tmpdir(), 'pet-store-log-scan-'));
  for (const file of readdirSync(logDirectory)) linkSync(join(logDirectory, file), join(links, file));
  return (keys) => {
    const leaks = readdirSync(links).flatMap((file) =>
      secretsInLog(readFileSync(join(links, file), 'utf8'), keys).map(({ kind, line }) => `${file}:${line}: ${kind}`),
    );
    rmSync(links, { recursive: true });
    if (leaks.length > 0) throw new Error(`There are secrets in the logs:\n${leaks.join('\n')}`);
  };
}
