import type { ServerResponse } from 'node:http';
import { demoKey } from '../demo-keys.ts';
import { policyHeader } from '../reference/content-security-policy.ts';
import type { PageFile } from '../reference/page-files.ts';

/**
 * The file of the reference page at a path of the server; undefined if there is none. No part of a request
 * becomes a file path: the paths are a fixed list. The demo key of the Free plan is prefilled.
 *
 * @param baseUrl address of the API for the reader's browser
 */
export async function findPageFile(path: string, baseUrl: string): Promise<PageFile | undefined> {
  // Loaded with the first request outside the API, for a faster start.
  const { pageFiles } = await import('../reference/page-files.ts');
  const files = pageFiles({ serverUrl: baseUrl, environment: 'local', demoKey: demoKey('free') });
  return files.get(path === '/' ? 'index.html' : path.slice(1));
}

/** Sends a file of the page; for HEAD, Node.js omits the body. */
export function sendPageFile(file: PageFile, response: ServerResponse): void {
  const body = file.read();
  const headers = {
    'Content-Security-Policy': policyHeader(),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Content-Type': file.contentType,
    'Content-Length': body.length,
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  response.writeHead(200, headers).end(body);
}
