import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundleOptions } from '../../infra/stack/bundle.ts';
import { atMost, type Figure, ratioAtMost } from './figure.ts';

const RUNS = 21;
const MAX_BUNDLE_KILOBYTES = 250;
const MAX_IMPORT_RATIO = 0.6;

/** What Lambda's Node.js runtime has for functions that stream. */
const runtime = 'globalThis.awslambda = { streamifyResponse: (handler) => handler };';

const importScript = `${runtime}
  const start = performance.now();
  await import(process.argv[1]);
  console.log(performance.now() - start);
`;

/** What functions need to load. */
export const environment = {
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
    const ofFunctions = functionNames().flatMap((name) => {
      const ours = join(folder, `${name}.cjs`);
      const plain = join(folder, `${name}.mjs`);
      buildSync({ ...bundleOptions(name), outfile: ours });
      buildSync({ ...plainOptions(name), outfile: plain });
      return [
        atMost(`${name}: bundle`, statSync(ours).size / 1_000, MAX_BUNDLE_KILOBYTES, ' kB'),
        importFigure(name, ours, plain),
      ];
    });
    return ofFunctions;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function functionNames(): string[] {
  return readdirSync(join(import.meta.dirname, '../../functions')).map((file) => basename(file, '.ts'));
}

/** How the same handler is bundled plainly. */
export function plainOptions(name: string): BuildOptions {
  const nothingTrimmed: BuildOptions = { alias: {}, define: {}, inject: [], supported: {} };
  const banner = { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" };
  return { ...bundleOptions(name), ...nothingTrimmed, format: 'esm', banner };
}

function importFigure(name: string, ours: string, plain: string): Figure {
  const pairs = Array.from({ length: RUNS }, () => [importTime(ours), importTime(plain)] as const);
  return ratioAtMost(`${name}: cold import ÷ plain cold import`, pairs, MAX_IMPORT_RATIO, ' ms');
}

function importTime(file: string): number {
  const args = ['--input-type=module', '--eval', importScript, '--', file];
  return Number(execFileSync(process.execPath, args, { env: environment }));
}
