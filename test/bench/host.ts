import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { atMost, type Figure, format, median, progress, report, type Size } from './figure.ts';

const COUNTS = {
  whole: { starts: 3, clients: 50, requests: 20_000 },
  small: { starts: 1, clients: 5, requests: 100 },
};
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

/** Start-up and memory of the local server, started as a newcomer does. */
export async function benchHost(size: Size): Promise<Figure[]> {
  const { starts, clients, requests } = COUNTS[size];
  // The first start after a change of the sources synthesizes them, and does not count.
  await secondsUntilReady();
  const seconds: number[] = [];
  for (let turn = 0; turn < starts; turn++) seconds.push(await secondsUntilReady());
  const { scripts } = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8')));
  // The shell, which sets the variables of the script, is replaced by the server: the memory is the server's own.
  const [afterStart, peak] = await withHost(`${scripts.start} "$@"`, async (host, baseUrl) => [
    residentMegabytes(host),
    await peakUnderLoad(host, baseUrl, clients, requests),
  ]);
  const load = `${format(requests)} requests of all operations`;
  return [
    {
      ...atMost('npm start, after the first: seconds until ready', median(seconds), 0.7, ' s'),
      ifMissed: 'this machine is slower than the one of the target',
    },
    atMost('local server: memory after start', afterStart, 130, ' MB'),
    { ...report(`local server: peak memory under ${load}`, peak, ' MB'), isShown: true },
  ];
}

function secondsUntilReady(): Promise<number> {
  progress('starting a server');
  const startedAt = performance.now();
  return withHost('exec npm start --silent -- "$@"', () => (performance.now() - startedAt) / 1_000);
}

/** Starts a server with its data in memory, by a line of the shell, and stops it after some work, done or not. */
async function withHost<Result>(
  line: string,
  work: (host: ChildProcess, baseUrl: string) => Result | Promise<Result>,
): Promise<Result> {
  const host = spawn('sh', ['-c', line, 'sh', '--json', '--port', '0', '--data', 'memory'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(host, 'exit');
  try {
    const [ready]: unknown[] = await Promise.race([once(host.stdout.setEncoding('utf8'), 'data'), exit]);
    if (typeof ready !== 'string') throw new Error(`The server has ended with ${String(ready)} before it was ready`);
    return await work(host, v.parse(readySchema, JSON.parse(ready)).baseUrl);
  } finally {
    host.kill('SIGTERM');
    await exit;
  }
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
      if (response.status !== status) throw new Error(`${path} returned ${response.status}, not ${status}`);
    }
  };
  progress(`sending ${requests} requests`);
  const sampling = setInterval(() => (peak = Math.max(peak, residentMegabytes(host))), SAMPLE_MS);
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    clearInterval(sampling);
  }
  return peak;
}
