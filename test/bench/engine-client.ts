import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isInt64 } from '../../shared/contract/int64.ts';
import { type InventoryItem, petStatuses } from '../../shared/contract/inventory.ts';
import { exactNumbers } from '../../shared/dynamodb.ts';
import { close, listen } from '../support/listening.ts';

/** Makes DynamoDB clients without settings of their own talk to this engine, as the environment of a function does. */
export function pointSdkAt(endpoint: URL): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint.href,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
  });
}

export function engineClient(endpoint: URL): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    endpoint: endpoint.href,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    maxAttempts: 1,
  });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** Stock of `count` pets, petId 1 and up, of all statuses. */
export function* manyPets(count: number): Generator<InventoryItem> {
  for (let number = 1; number <= count; number++) {
    const petId = String(number);
    const status = petStatuses[number % petStatuses.length] ?? 'available';
    if (isInt64(petId)) yield { petId, quantity: number % 1_000, status };
  }
}

/** An engine behind TLS, as DynamoDB is. */
export interface TlsEngine {
  readonly endpoint: URL;
  /** File with the certificate that clients have to trust. */
  readonly certificateFile: string;
  close(): Promise<void>;
}

/**
 * Puts TLS in front of an engine, with a certificate of its own.
 *
 * @param folder where its key and its certificate go
 */
export async function withTls({ port, pathname }: URL, folder: string): Promise<TlsEngine> {
  const keyFile = join(folder, 'key.pem');
  const certificateFile = join(folder, 'certificate.pem');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', keyFile, '-out', certificateFile];
  execFileSync('openssl', ['req', '-x509', ...curve, '-noenc', '-days', '1', ...subject, ...files], { stdio: 'pipe' });

  // Without noDelay, what is sent waits for the other side's delayed acknowledgement: 40 ms.
  const options = { key: readFileSync(keyFile), cert: readFileSync(certificateFile), noDelay: true };
  const server: Server = createServer(options, (client) => {
    const engine = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    client.pipe(engine).pipe(client);
    // A process that has measured leaves without a word.
    client.on('error', () => engine.destroy());
    engine.on('error', () => client.destroy());
  });
  const endpoint = new URL(pathname, `https://localhost:${await listen(server)}`);
  return { endpoint, certificateFile, close: () => close(server) };
}
