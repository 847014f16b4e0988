import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createServer } from 'node:tls';
import { startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { writeItems } from '../../../infra/local/dynamodb/tables.ts';
import { bundleFunctions, bundleInto } from '../../../infra/stack/bundle.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { petItem } from '../../../shared/stores/find-pet.ts';
import { int64 } from '../../support/int64.ts';
import { close, listen } from '../../support/listening.ts';
import { documentsAt } from '../../support/local-host.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';
import {
  anEntry,
  createChangesTable,
  createOrdersTable,
  createPetsTable,
  KeysTable,
  StockTable,
} from '../../support/tables.ts';
import { ExecutionEnvironment, type Measured } from '../execution-environment.ts';
import { atMost, type Figure, median, progress, type Size } from '../figure.ts';

const ROUNDS = { whole: 25, small: 1 };
/** Of a cold response to that of a bare client. */
const MAX_RATIO = 0.75;

const token = generateToken();
const ofOnePet = { pathParameters: { petId: '1' } };

const sends = (method: string, body: string, more: object = {}): Omit<Measured, 'file'> => ({
  event: aProxyEvent({ ...more, method, headers: { 'Content-Type': 'application/json' }, body }),
  streams: false,
  status: 200,
});

/** The functions of requests that call DynamoDB, and a request of each. */
const functions: Readonly<Record<string, Omit<Measured, 'file'>>> = {
  authorizer: {
    event: {
      ...aProxyEvent({ headers: { Authorization: `Bearer ${token}` }, authorizer: null }),
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/inventory',
    },
    streams: false,
    status: 'ADMITTED',
  },
  'list-inventory': { event: aProxyEvent(), streams: true, status: 200 },
  'get-inventory': { event: aProxyEvent(ofOnePet), streams: false, status: 200 },
  'update-inventory': sends('PATCH', '{"quantity":5}', ofOnePet),
  'update-inventories': sends('PATCH', '[{"petId":1,"quantity":5}]'),
  'adjust-inventory': sends('POST', '{"by":1}', ofOnePet),
  'get-pet': { event: aProxyEvent({ ...ofOnePet, resource: '/pets/{petId}' }), streams: false, status: 200 },
  'list-orders': { event: aProxyEvent({ resource: '/store/orders' }), streams: true, status: 200 },
};

const BARE = 'bare-client';

/** Milliseconds. */
interface ColdRun {
  /** Of the import, which waits for the warm-up. */
  readonly import: number;
  readonly first: number;
  /** Import and first call: what the first client waits for. */
  readonly response: number;
}

type Round = ReadonlyMap<string, ColdRun>;

/**
 * What Lambda loads of each function, with its warm-up, and its first call, each time in a fresh process and over TLS;
 * in turn with a bare client of two commands.
 */
export async function benchCold(size: Size): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-cold-'));
  const engine = await startEmbeddedEngine(undefined);
  const proxy = await startTlsProxy(engine.endpoint, directory);
  try {
    const measured = measuredIn(directory);
    const last = ROUNDS[size];
    const env = { ...(await fill(engine.endpoint)), NODE_EXTRA_CA_CERTS: proxy.certificateFile };
    const rounds: Round[] = [];
    // The first one warms up the machine.
    for (let round = size === 'small' ? 1 : 0; round <= last; round++) {
      progress(`round ${round} of ${last}`);
      const runs = new Map<string, ColdRun>();
      for (const [name, one] of measured) runs.set(name, await coldRun(one, proxy.endpoint, env));
      rounds.push(runs);
    }
    return coldFigures(size === 'small' ? rounds : rounds.slice(1));
  } finally {
    await proxy.close();
    await engine.close();
    rmSync(directory, { recursive: true });
  }
}

function measuredIn(directory: string): Map<string, Measured> {
  // As all functions here, it looks for its credentials in the environment alone.
  const bareClient = join(import.meta.dirname, 'bare-client.ts');
  bundleInto(directory, { [BARE]: bareClient }, { '@aws-sdk/credential-provider-node': bareClient });
  bundleFunctions(directory, Object.keys(functions));
  const fileOf = (name: string): string => join(directory, name, 'index.mjs');
  const bare = { file: fileOf(BARE), event: {}, streams: false, status: 200 };
  const ours = Object.entries(functions).map(([name, one]) => [name, { ...one, file: fileOf(name) }] as const);
  return new Map([[BARE, bare], ...ours]);
}

/** Puts a key and a pet into tables of their own. @returns the variables that name them */
async function fill(engine: URL): Promise<Record<string, string>> {
  const documents = documentsAt(engine);
  const keys = await KeysTable.create(documents);
  await keys.issue({ perMinute: 1_000_000, perDay: 1_000_000 }, token);
  const stock = await StockTable.create(documents);
  await stock.put(anEntry('1'));
  const pets = await createPetsTable(documents);
  await writeItems(documents, pets, [{ id: int64('1'), name: 'Dalmatian', photoUrls: [] }], petItem);
  const orders = await createOrdersTable(documents);
  const changes = await createChangesTable(documents);
  documents.destroy();
  return {
    CHANGES_TABLE: changes,
    KEYS_TABLE: keys.name,
    STOCK_TABLE: stock.name,
    PETS_TABLE: pets,
    ORDERS_TABLE: orders,
  };
}

async function coldRun(...started: Parameters<typeof ExecutionEnvironment.start>): Promise<ColdRun> {
  const environment = await ExecutionEnvironment.start(...started);
  const { total: first } = await environment.call();
  await environment.close();
  return { import: environment.importMs, first, response: environment.importMs + first };
}

function coldFigures(rounds: readonly Round[]): Figure[] {
  const all = (name: string, of: (run: ColdRun, round: Round) => number): number =>
    median(rounds.map((round) => of(runOf(round, name), round)));
  const milliseconds = (what: string, name: string): Figure => {
    const [loaded, first, response] = (['import', 'first', 'response'] as const).map((part) =>
      all(name, (run) => run[part]),
    );
    const detail = `import ${loaded?.toFixed(0)}, first call ${first?.toFixed(1)}`;
    return { what: `${what}: cold response time`, value: response ?? NaN, unit: ' ms', detail };
  };
  return [
    milliseconds('a bare client with two commands', BARE),
    ...Object.keys(functions).flatMap((name) => {
      const ratio = all(name, (run, round) => run.response / runOf(round, BARE).response);
      return [milliseconds(name, name), atMost(`${name}: cold response time ÷ a bare client`, ratio, MAX_RATIO)];
    }),
  ];
}

function runOf(round: Round, name: string): ColdRun {
  const run = round.get(name);
  if (!run) throw new Error(`${name} was not measured`);
  return run;
}

/**
 * The way to an engine over TLS, as it is to DynamoDB.
 *
 * @param directory of the certificate, which callers must trust. The machine's openssl makes it: with a key as DynamoDB's
 */
async function startTlsProxy(engine: URL, directory: string) {
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
