import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { bundleInto, bundleOf, functionFiles } from '../../../infra/stack/bundle.ts';
import type { DynamoDBParts } from '../../../infra/stages.ts';
import { petItem } from '../../../shared/stores/find-pet.ts';
import { writeItems } from '../../../infra/write-items.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { int64 } from '../../support/int64.ts';
import { documentsAt } from '../../support/local-host.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';
import { anEntry, createPetsTable, KeysTable, StockTable } from '../../support/tables.ts';
import { ExecutionEnvironment, type Measured } from '../execution-environment.ts';
import { atMost, type Figure, median, progress, report } from '../figure.ts';
import { startTlsProxy } from './tls-proxy.ts';

const ROUNDS = 25;
const MAX_BUNDLE_KILOBYTES = 100;

const token = generateToken();
const ofOnePet = { pathParameters: { petId: '1' } };
const json = { 'Content-Type': 'application/json' };

/** Functions, and a request of each. */
const functions: Readonly<Record<string, Omit<Measured, 'file'>>> = {
  authorizer: {
    event: {
      ...aProxyEvent({ headers: { Authorization: `Bearer ${token}` }, authorizer: null }),
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/inventory',
    },
    streams: false,
    status: 'ADMITTED',
  },
  'update-inventory': {
    event: aProxyEvent({ ...ofOnePet, method: 'PATCH', headers: json, body: '{"quantity":5}' }),
    streams: false,
    status: 200,
  },
  'get-pet': { event: aProxyEvent({ ...ofOnePet, resource: '/pets/{petId}' }), streams: false, status: 200 },
  'list-inventory': { event: aProxyEvent(), streams: true, status: 200 },
};

const BARE = 'bare-client';
const FLOOR = 'floor';

/** Milliseconds. */
interface ColdRun {
  /** Of the import, which waits for the warm-up. */
  readonly import: number;
  readonly first: number;
  readonly tenth: number;
  /** Import and first call: what the first client waits for. */
  readonly answer: number;
}

type Round = ReadonlyMap<string, ColdRun>;

/**
 * What Lambda loads of each function, with its warm-up, and its first calls, each time in a fresh process and over TLS; in
 * turn with a bare client of two commands, and with the least that a call takes.
 */
export async function benchCold(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'));
  const engine = await startEmbeddedEngine(undefined);
  const proxy = await startTlsProxy(engine.endpoint, folder);
  try {
    const measured = measuredIn(folder);
    const env = { ...(await fill(engine.endpoint)), NODE_EXTRA_CA_CERTS: proxy.certificateFile };
    const rounds: Round[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      progress(`round ${round} of ${ROUNDS}`);
      const runs = new Map<string, ColdRun>();
      for (const [name, one] of measured) runs.set(name, await coldRun(one, proxy.endpoint, env));
      rounds.push(runs);
    }
    // The first one has warmed up the machine.
    return [...bundleFigures(), ...coldFigures(rounds.slice(1))];
  } finally {
    await proxy.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  }
}

const fileOf = (bundle: string): string => join(bundle, 'index.mjs');

const nameOf = (name: string, dynamodb: DynamoDBParts): string => `${name}, ${dynamodb}`;

function measuredIn(folder: string): Map<string, Measured> {
  const baselines = [BARE, FLOOR].map((name) => [name, join(import.meta.dirname, 'baselines', `${name}.ts`)] as const);
  bundleInto(folder, Object.fromEntries(baselines), 'whole');
  return new Map([
    ...baselines.map(([name]) => {
      const one = { file: fileOf(join(folder, name)), event: {}, streams: false, status: 200 };
      return [name, one] as const;
    }),
    ...Object.entries(functions).flatMap(([name, one]) =>
      (['parts', 'whole'] as const).map(
        (dynamodb) => [nameOf(name, dynamodb), { ...one, file: fileOf(bundleOf(name, dynamodb)) }] as const,
      ),
    ),
  ]);
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
  documents.destroy();
  return { KEYS_TABLE: keys.name, STOCK_TABLE: stock.name, PETS_TABLE: pets };
}

async function coldRun(...started: Parameters<typeof ExecutionEnvironment.start>): Promise<ColdRun> {
  const environment = await ExecutionEnvironment.start(...started);
  const times: number[] = [];
  while (times.length < 10) times.push((await environment.call()).total);
  await environment.close();
  const [first = NaN] = times;
  return { import: environment.importMs, first, tenth: times.at(-1) ?? NaN, answer: environment.importMs + first };
}

function bundleFigures(): Figure[] {
  return Object.keys(functionFiles()).flatMap((name) => {
    const [parts, whole] = (['parts', 'whole'] as const).map(
      (dynamodb) => statSync(join(bundleOf(name, dynamodb), 'function.cjs')).size / 1_000,
    );
    const isWholeOnly = parts === whole;
    return isWholeOnly
      ? [report(`${name}: bundle`, whole ?? NaN, ' kB')]
      : [
          atMost(`${name}: bundle`, parts ?? NaN, MAX_BUNDLE_KILOBYTES, ' kB'),
          report(`${name}, with the whole SDK: bundle`, whole ?? NaN, ' kB'),
        ];
  });
}

function coldFigures(rounds: readonly Round[]): Figure[] {
  const all = (name: string, of: (run: ColdRun, round: Round) => number): number =>
    median(rounds.map((round) => of(runOf(round, name), round)));
  const against = (baseline: string) => (run: ColdRun, round: Round) => run.answer / runOf(round, baseline).answer;
  const milliseconds = (what: string, name: string): Figure => {
    const [loaded, first, answer] = (['import', 'first', 'answer'] as const).map((part) =>
      all(name, (run) => run[part]),
    );
    const measured = `${answer?.toFixed(0)} ms (import ${loaded?.toFixed(0)}, first call ${first?.toFixed(1)})`;
    return { what: `${what}: cold answer`, measured, target: '–' };
  };
  return [
    milliseconds('a bare client of two commands', BARE),
    milliseconds('the least: a signature and a call', FLOOR),
    ...Object.keys(functions).flatMap((name) => {
      const parts = nameOf(name, 'parts');
      return [
        milliseconds(name, parts),
        atMost(`${name}: cold answer ÷ a bare client`, all(parts, against(BARE)), 0.7),
        atMost(`${name}: cold answer ÷ the least`, all(parts, against(FLOOR)), 1.5),
        atMost(
          `${name}: first call ÷ tenth`,
          all(parts, ({ first, tenth }) => first / tenth),
          2,
        ),
        milliseconds(`${name}, with the whole SDK`, nameOf(name, 'whole')),
      ];
    }),
  ];
}

function runOf(round: Round, name: string): ColdRun {
  const run = round.get(name);
  if (!run) throw new Error(`${name} was not measured`);
  return run;
}
