import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../../infra/demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostProcess } from '../support/host-process.ts';
import { KilledHost } from '../support/killed-host.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

jest.setTimeout(600_000);

/** Times that hosts with data are killed: an even number. Each costs more than a second of a core. */
const KILLS = Number(process.env['HOST_KILLS'] ?? 100);
/** Times that a host is killed while it starts with an empty data folder. */
const FIRST_STARTS = 4;
/** Hosts that are killed at the same time: while one starts, the other writes. */
const HOSTS = 2;

const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);

describe(`kill -9 of the host (KILL_SEED=${seed})`, () => {
  const folder = temporaryFolder();
  const compileCache = path.join(folder, 'compile-cache');
  const assembly = synthesizedOnce();

  beforeAll(() => aKilledHost('first', new Random(seed)).inspect());

  function aKilledHost(name: string, random: Random): KilledHost {
    const data = path.join(folder, name);
    const temporary = path.join(folder, `${name}-tmp`);
    mkdirSync(temporary);
    return new KilledHost({ assembly, data, temporaryFolder: temporary, compileCache, random });
  }

  test(`in a storm of writes, ${KILLS} times: all that was acknowledged is there, and no limit is exceeded`, async () => {
    const startedAt = performance.now();
    const hosts = await Promise.all(
      Array.from({ length: HOSTS }, async (_, index) => {
        const random = new Random(seed + index);
        const host = aKilledHost(`storm-${index}`, random);
        for (let kill = 0; kill < KILLS / HOSTS && host.faults.length === 0; kill++) {
          if (kill > 0 && random.isLikely(0.2)) await host.killWhileStarting();
          else await host.killWhileServing();
        }
        await host.inspect();
        return host;
      }),
    );
    const kills = hosts.map(({ killsWhileStarting, killsWhileServing }) => killsWhileStarting + killsWhileServing);
    const acknowledged = hosts.map(({ ledger }) => ledger.acknowledgements);
    process.stderr.write(
      `kill -9: ${JSON.stringify({ seed, kills, acknowledged, seconds: Math.round((performance.now() - startedAt) / 1_000) })}\n`,
    );

    expect(hosts.flatMap(({ faults }) => faults)).toEqual([]);
    expect(kills.reduce((sum, count) => sum + count, 0)).toBe(KILLS);
    for (const { ledger } of hosts) {
      expect(ledger.acknowledgements).toBeGreaterThan(KILLS);
      expect(ledger.mostAdmitted(hashApiKey(demoKey('free')))).toBeLessThanOrEqual(limitsOfDemoKey('free').perMinute);
    }
  });

  test(`while it starts for the first time: it starts the next time, and has all that it needs`, async () => {
    const random = new Random(seed);
    for (let start = 0; start < FIRST_STARTS; start++) {
      const host = aKilledHost(`first-${start}`, random);
      await host.killWhileStarting();
      const data = path.join(folder, `first-${start}`);
      const options = ['--json', '--port', '0', '--data', data, '--assembly', assembly];
      const next = new HostProcess(options, path.join(folder, `first-${start}-tmp`));
      const { baseUrl, keys } = await next.ready();

      expect(await ApiClient.withKey(baseUrl, keys.enterprise).setQuantity(101, start)).toMatchObject({ status: 200 });
      expect(await next.stop()).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });
});
