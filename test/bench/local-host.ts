import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure, median, progress } from './figure.ts';
import { allOperations, assembleUnthrottled, RunningHost } from './running-host.ts';

const REQUESTS = 20_000;
/** Until what the load needed has come to its end. */
const REST_MS = 35_000;

/** Start-up and memory of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  // The first start after a change of the sources synthesises them, and does not count.
  await secondsUntilReady();
  const seconds = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  return [atMost('npm start, from the second on: seconds until ready', seconds, 1.5, ' s'), ...(await memoryFigures())];
}

/** Of a host whose limits are lifted. */
async function memoryFigures(): Promise<Figure[]> {
  const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
  await assembleUnthrottled(assembly);
  const host = await RunningHost.start(['--assembly', assembly]);
  try {
    const afterStart = host.residentMegabytes();
    await host.liftLimits();
    const { requests, peakMegabytes } = await host.load(allOperations, REQUESTS);
    await sleep(REST_MS);
    const under = `${requests.toLocaleString('en')} requests of all operations`;
    return [
      atMost('host memory after its start', afterStart, 250, ' MB'),
      atMost(`host memory at most, under ${under}`, peakMegabytes, 350, ' MB'),
      atMost(`host memory ${REST_MS / 1_000} s after them`, host.residentMegabytes(), 200, ' MB'),
    ];
  } finally {
    await host.stop();
    rmSync(assembly, { recursive: true });
  }
}

/** Seconds from `npm start` to its ready line. */
async function secondsUntilReady(): Promise<number> {
  progress('starting a host');
  const startedAt = performance.now();
  const host = await RunningHost.startWithNpm();
  const seconds = (performance.now() - startedAt) / 1_000;
  await host.stop();
  return seconds;
}
