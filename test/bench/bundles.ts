import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundleOptions } from '../../infra/stack/bundle.ts';
import { atMost, type Figure, median, progress } from './figure.ts';

const RUNS = 21;
const MAX_BUNDLE_KILOBYTES = 250;
const MAX_IMPORT_RATIO = 0.6;

const importScript = `
  // What Lambda's Node.js runtime has for functions that stream.
  globalThis.awslambda = { streamifyResponse: (handler) => handler };
  const start = performance.now();
  await import(process.argv[1]);
  console.log(performance.now() - start);
`;

/** What functions need to load. */
const environment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  KEYS_TABLE: 'keys',
  STOCK_TABLE: 'stock',
  OVERFLOW_USAGE_IDENTIFIER: 'overflow',
  INTERIM_USAGE_IDENTIFIER: 'interim',
  PETS_TABLE: 'pets',
  ORDERS_TABLE: 'orders',
  REQUESTS_TABLE: 'requests',
  PAGE_ORIGIN: 'https://example.com',
  DEPRECATED_AT: '2026-01-01T00:00:00Z',
  SUNSET_AT: '2027-01-01T00:00:00Z',
  API_ID: 'api',
  API_STAGE: 'v1',
  METRICS_NAMESPACE: 'Bench',
  STACK_NAME: 'bench',
};

/**
 * Size of each function's bundle, and its cold import beside that of the same handler bundled plainly: as an ES module
 * with the SDK and nothing trimmed. Each import runs in a fresh process; the two take turns.
 */
export function benchBundles(): Figure[] {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bundles-'));
  try {
    const names = readdirSync(join(import.meta.dirname, '../../functions')).map((file) => basename(file, '.ts'));
    return names.flatMap((name) => {
      progress(name);
      const ours = join(folder, `${name}.cjs`);
      const plain = join(folder, `${name}.mjs`);
      buildSync({ ...bundleOptions(name), outfile: ours });
      buildSync({ ...plainOptions(name), outfile: plain });
      return [
        atMost(`${name}: bundle`, statSync(ours).size / 1_000, MAX_BUNDLE_KILOBYTES, ' kB'),
        importFigure(name, ours, plain),
      ];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** How the same handler is bundled plainly. */
function plainOptions(name: string): BuildOptions {
  const nothingTrimmed: BuildOptions = { alias: {}, define: {}, inject: [], supported: {} };
  const banner = { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" };
  return { ...bundleOptions(name), ...nothingTrimmed, format: 'esm', banner };
}

/** The median of the ratios, with the medians of both sides beside it. */
function importFigure(name: string, ours: string, plain: string): Figure {
  const pairs = Array.from({ length: RUNS }, () => ({ ours: importTime(ours), plain: importTime(plain) }));
  const ratio = median(pairs.map((pair) => pair.ours / pair.plain));
  const figure = atMost(`${name}: cold import ÷ plain cold import`, ratio, MAX_IMPORT_RATIO);
  const [mine, other] = [median(pairs.map((pair) => pair.ours)), median(pairs.map((pair) => pair.plain))];
  return { ...figure, measured: `${figure.measured} (${mine.toFixed(1)} ms ÷ ${other.toFixed(1)} ms)` };
}

/** Milliseconds. */
function importTime(file: string): number {
  const args = ['--input-type=module', '--eval', importScript, '--', file];
  return Number(execFileSync(process.execPath, args, { env: environment }));
}
