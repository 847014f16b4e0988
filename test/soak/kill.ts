import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { demoKey, limitsOfDemoKey } from '../../infra/demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { KilledHost } from './killed-host.ts';
import type { Outcome } from './models.ts';

/** Times that the host of one round is killed. */
const KILLS = 4;

/**
 * `kill -9` of a local host in a storm of writes, and while it starts: all that it has acknowledged is there after the
 * next start, and no limit is exceeded.
 */
export async function killRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pet-store-soak-'));
  try {
    const temporaryFolder = path.join(folder, 'tmp');
    mkdirSync(temporaryFolder);
    const random = new Random(seed);
    const data = path.join(folder, 'data');
    const host = new KilledHost({ assembly: synthesizedOnce(), data, temporaryFolder, random });
    // Every other round begins with a folder that a killed start has left behind.
    if (seed % 2 === 0) await host.killWhileStarting();
    while (host.kills < KILLS && host.violations.length === 0) {
      if (random.isLikely(0.2)) await host.killWhileStarting();
      else await host.killWhileServing();
    }
    await host.inspect();
    const { perMinute } = limitsOfDemoKey('free');
    const most = host.ledger.mostAdmitted(hashApiKey(demoKey('free')));
    const violations = [...host.violations];
    if (most > perMinute) violations.push(`${most} requests of a key were admitted in a minute that has ${perMinute}`);
    return { violations, counts: { kills: host.kills, acknowledged: host.ledger.acknowledgements } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
