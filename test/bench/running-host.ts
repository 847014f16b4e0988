import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import autocannon from 'autocannon';
import * as v from 'valibot';
import { moveKey } from '../../infra/admin/keys/move-key.ts';
import { findTarget } from '../../infra/admin/target.ts';
import { demoKey } from '../../infra/demo-keys.ts';
import { assemble } from '../../infra/local/assemble.ts';
import { readAssembly } from '../../infra/local/assembly.ts';
import { templateSchema, writeTemplate } from '../support/service-template.ts';
import { progress } from './figure.ts';

export const CONNECTIONS = 50;
/** Where the machine is too slow for all requests in this time, the figure says how many there were. */
const LONGEST_MS = 90_000;
/** Between two looks at the memory. */
const SAMPLE_MS = 250;

const DEMO_KEY_ID = 'demo-enterprise';
/** Requests a minute and a day. */
const MANY = 1_000_000_000;

const packageSchema = v.object({ scripts: v.object({ start: v.string() }) });
const readySchema = v.object({ baseUrl: v.string() });

/** A request, and the status of its answer: any other ends the bench. */
export interface LoadRequest {
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly status: number;
}

export interface LoadResult {
  readonly requests: number;
  /** Seconds. */
  readonly duration: number;
  readonly peakMegabytes: number;
}

/** The local host in a process of its own, with its data in memory. */
export class RunningHost {
  readonly baseUrl: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, baseUrl: string) {
    this.#child = child;
    this.baseUrl = baseUrl;
  }

  /** Starts it by npm, which then is the process that is looked at. */
  static startWithNpm(): Promise<RunningHost> {
    return RunningHost.#start('npm', ['start', '--silent', '--']);
  }

  /** Starts it without npm in between: the process is the host's own, and its memory too. */
  static start(options: readonly string[] = []): Promise<RunningHost> {
    const { scripts } = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8')));
    // The shell, which sets the variables of the script, is replaced by the host.
    return RunningHost.#start('sh', ['-c', `${scripts.start} "$@"`, 'sh', ...options]);
  }

  /** @throws Error with what the host has printed where it ends before it is ready */
  static async #start(command: string, leading: readonly string[]): Promise<RunningHost> {
    const child = spawn(command, [...leading, '--json', '--port', '0', '--data', 'memory'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errors = text(child.stderr);
    const [line]: string[] = await Promise.race([
      once(child.stdout.setEncoding('utf8'), 'data'),
      once(child.stdout, 'end'),
    ]);
    if (line === undefined) throw new Error(`The host has ended before it was ready: ${await errors}`);
    return new RunningHost(child, v.parse(readySchema, JSON.parse(line)).baseUrl);
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exit;
  }

  residentMegabytes(): number {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(this.#child.pid)])) / 1_000;
  }

  /** Lifts the limits of the Enterprise demo key. */
  async liftLimits(): Promise<void> {
    const quiet = { throttled: () => undefined, unreadable: () => undefined, incomplete: () => undefined };
    const target = await findTarget({ url: this.baseUrl }, quiet);
    // With its tags in API Gateway: a sync would undo what is in the keys table alone.
    await moveKey(target, DEMO_KEY_ID, 'enterprise', { perMinute: MANY, perDay: MANY });
    target.gateway.destroy();
    target.documents.destroy();
  }

  /** Sends requests with the Enterprise demo key over many connections, on each one kind after the other. */
  async load(kinds: readonly LoadRequest[], amount: number): Promise<LoadResult> {
    const { origin: url, pathname } = new URL(this.baseUrl);
    const headers = { authorization: `Bearer ${demoKey('enterprise')}`, 'content-type': 'application/json' };
    const requests = kinds.map((kind) => ({ ...kind, path: `${pathname}${kind.path}` }));
    let answers = 0;
    let peakMegabytes = 0;
    const { promise, resolve } = Promise.withResolvers<autocannon.Result>();
    const settings = { url, headers, requests, connections: CONNECTIONS, amount };
    const running = autocannon(settings, (_, outcome) => resolve(outcome)).on('response', () => {
      answers += 1;
      if (answers % 10_000 === 0) progress(`${answers} of ${amount} requests`);
    });
    const timer = setTimeout(() => running.stop(), LONGEST_MS);
    const sampling = setInterval(() => (peakMegabytes = Math.max(peakMegabytes, this.residentMegabytes())), SAMPLE_MS);
    const { errors, duration, statusCodeStats = {} } = await promise;
    clearTimeout(timer);
    clearInterval(sampling);
    const expected = new Set(kinds.map(({ status }) => String(status)));
    const others = Object.keys(statusCodeStats).filter((status) => !expected.has(status));
    if (errors > 0) throw new Error(`${errors} requests were not answered`);
    if (others.length > 0) throw new Error(`Requests were answered with ${others.join(', ')}`);
    return { requests: answers, duration, peakMegabytes };
  }
}

/** Makes the assembly that `npm start` runs, but without the throttles of its usage plans: a load is that of one key. */
export async function assembleUnthrottled(folder: string): Promise<void> {
  await assemble(folder);
  const template = v.parse(templateSchema, readAssembly(folder).template);
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type === 'AWS::ApiGateway::UsagePlan') delete Properties['Throttle'];
  }
  writeTemplate(folder, 'staging', template);
}

export const update: LoadRequest = { method: 'PATCH', path: '/inventory/701', body: '{"quantity":5}', status: 200 };

/** One of each operation, and a path that is none. */
export const allOperations: readonly LoadRequest[] = [
  { method: 'GET', path: '/inventory', status: 200 },
  update,
  { method: 'GET', path: '/pets/701', status: 200 },
  { method: 'GET', path: '/store/orders', status: 200 },
  { method: 'GET', path: '/no-such-path', status: 404 },
];
