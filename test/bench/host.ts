import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { atMost, type Figure, format, median, progress, type Size } from './figure.ts';

const COUNTS = {
  whole: { starts: 3, clients: 50, requests: 20_000 },
  small: { starts: 1, clients: 5, requests: 100 },
};
/** By this a start is slowed, in milliseconds. */
const SLOWED_MS = 2_500;
/** Between two looks at the memory. */
const SAMPLE_MS = 250;

const packageSchema = v.object({ scripts: v.object({ start: v.string() }) });
const readySchema = v.object({ baseUrl: v.string() });

/** One of each operation, and a path that is none. */
const kinds = [
  { path: '/inventory', status: 200 },
  { path: '/inventory/701', method: 'PATCH', body: '{"quantity":5}', status: 200 },
  { path: '/pets/701', status: 200 },
  { path: '/store/orders', status: 200 },
  { path: '/no-such-path', status: 404 },
];

/** Start-up and memory of the local host, started as a newcomer does. */
export async function benchHost(size: Size): Promise<Figure[]> {
  const { starts, clients, requests } = COUNTS[size];
  // The first start after a change of the sources synthesises them, and does not count.
  await secondsUntilReady();
  const seconds: number[] = [];
  for (let turn = 0; turn < starts; turn++) seconds.push(await secondsUntilReady());
  const { scripts } = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8')));
  // The shell, which sets the variables of the script, is replaced by the host: the memory is the host's own.
  const { host, baseUrl } = await start('sh', '-c', `${scripts.start} "$@"`, 'sh');
  const afterStart = residentMegabytes(host);
  const [peak, ofSlower] = await Promise.all([
    peakUnderLoad(host, baseUrl, clients, requests),
    size === 'small' ? secondsUntilReady(SLOWED_MS) : undefined,
  ]);
  await stop(host);
  const load = `${format(requests)} requests of all operations`;
  const ready = atMost('npm start, from the second on: seconds until ready', median(seconds), 0.7, ' s');
  return [
    ofSlower === undefined ? ready : { ...ready, ofSlower },
    atMost('host memory after its start', afterStart, 130, ' MB'),
    atMost(`host memory at most, under ${load}`, peak, 250, ' MB'),
  ];
}

/** Seconds from `npm start` to its ready line. */
async function secondsUntilReady(slowedBy = 0): Promise<number> {
  progress('starting a host');
  const startedAt = performance.now();
  const { host } = await start('sh', '-c', `sleep ${slowedBy / 1_000}; exec npm start --silent -- "$@"`, 'sh');
  const seconds = (performance.now() - startedAt) / 1_000;
  await stop(host);
  return seconds;
}

/** Starts a host with its data in memory. */
async function start(command: string, ...leading: string[]): Promise<{ host: ChildProcess; baseUrl: string }> {
  const host = spawn(command, [...leading, '--json', '--port', '0', '--data', 'memory'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: string[] = await Promise.race([once(host.stdout.setEncoding('utf8'), 'data'), once(host, 'exit')]);
  return { host, baseUrl: v.parse(readySchema, JSON.parse(String(line))).baseUrl };
}

async function stop(host: ChildProcess): Promise<void> {
  const exit = once(host, 'exit');
  host.kill('SIGTERM');
  await exit;
}

const residentMegabytes = ({ pid }: ChildProcess): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1_000;

/** Megabytes at most, while many clients send one kind of request after the other. */
async function peakUnderLoad(host: ChildProcess, baseUrl: string, clients: number, requests: number) {
  const headers = { Authorization: `Bearer ${demoKey('enterprise')}`, 'Content-Type': 'application/json' };
  let left = requests;
  let peak = residentMegabytes(host);
  const client = async (): Promise<void> => {
    for (; left > 0; left--) {
      const { path = '', status, ...init } = kinds[left % kinds.length] ?? {};
      const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
      await response.arrayBuffer();
      if (response.status !== status) throw new Error(`${path} was answered ${response.status}, not ${status}`);
    }
  };
  progress(`sending ${requests} requests`);
  const sampling = setInterval(() => (peak = Math.max(peak, residentMegabytes(host))), SAMPLE_MS);
  await Promise.all(Array.from({ length: clients }, client));
  clearInterval(sampling);
  return peak;
}
