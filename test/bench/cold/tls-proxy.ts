import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createServer } from 'node:tls';
import { close, listen } from '../../support/listening.ts';

/** The way to a DynamoDB engine over TLS, as it is to DynamoDB. */
export interface TlsProxy {
  readonly endpoint: URL;
  /** PEM file of its certificate, which callers must trust. */
  readonly certificateFile: string;
  close(): Promise<void>;
}

/** @param folder for the certificate, which the machine's openssl makes: the key is of the kind that DynamoDB has */
export async function startTlsProxy(engine: URL, directory: string): Promise<TlsProxy> {
  const certificateFile = join(directory, 'certificate.pem');
  const keyFile = join(directory, 'key.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', keyFile, '-out', certificateFile];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files], {
    stdio: 'ignore',
  });
  const settings = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
  const server = createServer({ ...settings, noDelay: true }, (client) => {
    const upstream = connect({ port: Number(engine.port), host: engine.hostname, noDelay: true });
    // A client that is done hangs up.
    pipeline(client, upstream, client).catch(() => undefined);
  });
  const endpoint = new URL(engine.pathname, `https://localhost:${await listen(server)}`);
  return { endpoint, certificateFile, close: () => close(server) };
}
