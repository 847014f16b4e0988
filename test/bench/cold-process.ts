import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as v from 'valibot';

/** How long a function took in a fresh process, in milliseconds. */
const coldRunSchema = v.object({
  /** Until its handler was there, with all that it does while it is loaded. */
  imported: v.number(),
  first: v.number(),
  /** Median of the calls after the first. */
  warm: v.number(),
});

export type ColdRun = v.InferOutput<typeof coldRunSchema>;

/** What Lambda's Node.js runtime is to the function. Its last line says how long everything took. */
const runtimeScript = `
  const { Writable } = require('node:stream');
  const [, file, text] = process.argv;
  let answer;
  globalThis.awslambda = {
    streamifyResponse: (handler) => Object.assign(handler, { streams: true }),
    HttpResponseStream: { from: (stream, metadata) => ((answer = metadata), stream) },
  };
  const sink = () => new Writable({ write: (chunk, encoding, done) => done() });
  async function timeOf(handler) {
    const event = JSON.parse(text);
    const start = performance.now();
    if (handler.streams) await handler(event, sink(), {});
    else answer = await handler(event, {});
    const time = performance.now() - start;
    if (answer.statusCode !== 200 && answer.context?.outcome !== 'ADMITTED') throw new Error(JSON.stringify(answer));
    return time;
  }
  (async () => {
    // Its log is open before a function is loaded.
    console.log('START');
    const start = performance.now();
    const { handler } = await import(file);
    const imported = performance.now() - start;
    const first = await timeOf(handler);
    const others = [];
    for (let call = 0; call < 21; call++) others.push(await timeOf(handler));
    const warm = others.sort((a, b) => a - b)[10];
    console.log('\\n' + JSON.stringify({ imported, first, warm }));
    process.exit();
  })();
`;

/** Loads a function in a fresh process and calls it with the same event again and again. Throws where that is refused. */
export async function runCold(file: string, event: object, env: Readonly<Record<string, string>>): Promise<ColdRun> {
  const args = ['--eval', runtimeScript, '--', file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return v.parse(coldRunSchema, JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
}
