import type { ServerResponse } from 'node:http';
import { demoKey } from '../demo-keys.ts';
import { policyHeader } from '../reference/content-security-policy.ts';
import type { PageFile } from '../reference/page-files.ts';

/**
 * The file of the reference page at a path of the host's address; undefined where there is none. Nothing of a request
 * becomes the path of a file: the paths are those of a list. The demo key of the Free plan is filled in.
 *
 * @param baseUrl address of the API, as the reader's browser reaches it
 */
export async function findPageFile(path: string, baseUrl: string): Promise<PageFile | undefined> {
  // Loaded with the first request for something outside the API, so that the host starts without it.
  const { pageFiles } = await import('../reference/page-files.ts');
  const files = pageFiles({ serverUrl: baseUrl, environment: 'local', demoKey: demoKey('free') });
  return files.get(path === '/' ? 'index.html' : path.slice(1));
}

/** Sends a file of the page; to HEAD, Node.js sends its headers alone. */
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
