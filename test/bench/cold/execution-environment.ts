import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import * as v from 'valibot';

/** Calls that each environment gets. */
const CALLS = 10;

/** What Lambda's Node.js runtime is to a function. Plain JavaScript, so that nothing else is loaded before it. */
const script = `
  const { writeSync } = require('node:fs');
  const { Writable } = require('node:stream');
  const [file, event, streams] = process.argv.slice(1).map((text, index) => (index === 0 ? text : JSON.parse(text)));
  let status;
  globalThis.awslambda = {
    streamifyResponse: (handler) => handler,
    HttpResponseStream: { from: (stream, metadata) => ((status = metadata.statusCode), stream) },
  };
  const context = { getRemainingTimeInMillis: () => 5000 };
  (async () => {
    const times = [];
    const timed = async (work) => {
      const start = performance.now();
      const result = await work();
      times.push(performance.now() - start);
      return result;
    };
    const { handler } = await timed(() => import(file));
    for (let call = 0; call < ${CALLS}; call++) {
      const stream = new Writable({ write: (chunk, encoding, done) => done() });
      const answer = await timed(() => (streams ? handler(event, stream, context) : handler(event, context)));
      status = answer?.context?.outcome ?? answer?.statusCode ?? status;
    }
    // The function has standard output for what it logs.
    writeSync(3, JSON.stringify({ times, status }));
    process.exit();
  })();
`;

export interface Measured {
  /** File that Lambda loads. */
  readonly file: string;
  readonly event: object;
  readonly streams: boolean;
  /** Of the last answer: its HTTP status, or the authorizer's outcome. */
  readonly status: unknown;
}

/** Milliseconds. */
export interface ColdRun {
  /** Of the import, which waits for the warm-up. */
  readonly import: number;
  readonly first: number;
  readonly second: number;
  readonly tenth: number;
  /** Import and first call: what the first client waits for. */
  readonly answer: number;
}

const outcomeSchema = v.object({ times: v.array(v.number()), status: v.unknown() });

/** Loads a function in a fresh process, and calls it. @throws Error where its last answer is another than expected */
export async function coldRun(
  { file, event, streams, status }: Measured,
  env: Readonly<Record<string, string>>,
): Promise<ColdRun> {
  const args = ['--eval', script, '--', file, JSON.stringify(event), JSON.stringify(streams)];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  const exit = once(child, 'exit');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the pipe of descriptor 3 is
  const outcome = v.parse(outcomeSchema, await json(child.stdio[3] as Readable));
  await exit;
  if (outcome.status !== status) throw new Error(`${file} answered ${String(outcome.status)}, not ${String(status)}`);
  const [loaded = NaN, first = NaN, second = NaN] = outcome.times;
  const tenth = outcome.times[CALLS] ?? NaN;
  return { import: loaded, first, second, tenth, answer: loaded + first };
}
