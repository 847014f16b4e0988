import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, type Figure, median } from './figure.ts';

const RUNS = 3;

/** What a pipeline waits for before it deploys: `cdk synth` of both stages, with all checks of the templates. */
export function benchSynthesis(): Figure[] {
  const seconds = median(Array.from({ length: RUNS }, secondsOfSynthesis));
  return [atMost('cdk synth of both stages, with its checks: seconds', seconds, 15, ' s')];
}

function secondsOfSynthesis(): number {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-synthesis-'));
  const startedAt = performance.now();
  const { status, stderr } = spawnSync('npx', ['cdk', 'synth', '--quiet', '--output', folder], { encoding: 'utf8' });
  const seconds = (performance.now() - startedAt) / 1_000;
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`cdk synth has failed: ${stderr}`);
  return seconds;
}
