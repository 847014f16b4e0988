import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { contentSecurityPolicy } from '../reference/content-security-policy.ts';
import type { PageFile } from '../reference/page-files.ts';
import { demoKey } from '../demo-keys.ts';

const compress = promisify(gzip);

const headersOfEveryFile = {
  'Content-Security-Policy': contentSecurityPolicy(),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  Vary: 'Accept-Encoding',
};

const compressedAssets = new WeakMap<PageFile, Promise<Buffer>>();

/**
 * The file of the reference page at a path of the host's address; undefined where there is none. Nothing of a request
 * becomes the path of a file: the paths are those of a list. The demo key of the Free plan is filled in.
 *
 * @param baseUrl address of the API, as the reader's browser reaches it
 */
export async function findPageFile(path: string, baseUrl: string): Promise<PageFile | undefined> {
  // Loaded when somebody asks for what is not the API's, so that the host starts without it.
  const { pageFiles } = await import('../reference/page-files.ts');
  const files = pageFiles({ serverUrl: baseUrl, environment: 'local', demoKey: demoKey('free') });
  return files.get(path === '/' ? 'index.html' : path.slice(1));
}

/** Sends a file of the page, compressed for whoever takes it so. */
export async function sendPageFile(file: PageFile, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const isCompressed = new Negotiator(message).encoding(['gzip', 'identity']) === 'gzip';
  const body = isCompressed ? await compressed(file) : file.read();
  response.writeHead(200, {
    ...headersOfEveryFile,
    'Content-Type': file.contentType,
    'Content-Length': body.length,
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
  });
  response.end(message.method === 'HEAD' ? undefined : body);
}

function compressed(file: PageFile): Promise<Buffer> {
  if (!file.immutable) return compress(file.read());
  const known = compressedAssets.get(file) ?? compress(file.read());
  compressedAssets.set(file, known);
  return known;
}
