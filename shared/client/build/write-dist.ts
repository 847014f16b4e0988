import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** `npm pack`: builds what the package is made of. */
const root = join(import.meta.dirname, '../../..');
const client = join(root, 'shared/client');
const dist = join(client, 'dist');

rmSync(dist, { recursive: true, force: true });
buildSync({
  entryPoints: [join(client, 'pet-store-inventory-client.ts')],
  outdir: dist,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  // Errors are shown with the names of their classes.
  keepNames: true,
});
writeDeclarations();
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));

/** Checks the client with a browser's types alone, so that nothing of Node.js gets into it. */
function writeDeclarations(): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '--project', join(client, 'tsconfig.build.json')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The client has type errors:\n${stdout}`);
}
