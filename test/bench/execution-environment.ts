import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { account, localCredentials } from '../../infra/local-endpoint.ts';

/** What Lambda's Node.js runtime is to a function. Plain JavaScript, so that nothing else is loaded before it. */
const script = `
  const { Writable } = require('node:stream');
  let status;
  globalThis.awslambda = {
    streamifyResponse: (handler) => handler,
    HttpResponseStream: { from: (stream, metadata) => ((status = metadata.statusCode), stream) },
  };
  const context = { getRemainingTimeInMillis: () => 5000 };
  let memory = 0;
  (async () => {
    const start = performance.now();
    const { handler } = await import(process.argv[1]);
    process.send(performance.now() - start);
    process.on('message', async ({ event, streams }) => {
      let first;
      const start = performance.now();
      const stream = new Writable({
        write(chunk, _, done) {
          if (chunk.length > 0) first ??= performance.now() - start;
          memory = Math.max(memory, process.memoryUsage.rss());
          done();
        },
      });
      const answer = await (streams ? handler(event, stream, context) : handler(event, context));
      const total = performance.now() - start;
      status = answer?.context?.outcome ?? answer?.statusCode ?? status;
      process.send({ first, total, memory, status });
    });
  })();
`;

/** A function, as Lambda loads it, and a call of it. */
export interface Measured {
  readonly file: string;
  readonly event: object;
  readonly streams: boolean;
  /** Of the response: its HTTP status, or the authorizer's outcome. */
  readonly status: unknown;
}

export interface Call {
  /** Milliseconds until the first byte of a body that streams, and until the end. */
  readonly first: number;
  readonly total: number;
  /** The most memory that the environment has had so far while it streamed, in bytes. */
  readonly memory: number;
}

/** A function in a process of its own, as in an execution environment of Lambda. */
export class ExecutionEnvironment {
  /** Milliseconds of the import, which waits for the warm-up. */
  readonly importMs: number;
  readonly #process: ChildProcess;
  readonly #measured: Measured;

  private constructor(process: ChildProcess, measured: Measured, importMs: number) {
    this.#process = process;
    this.#measured = measured;
    this.importMs = importMs;
  }

  /** @param env with the tables of the function */
  static async start(measured: Measured, engine: URL, env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, ['--eval', script, '--', measured.file], {
      env: { ...environmentAt(engine), ...env },
      // Its lines about requests are not what the bench prints.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [importMs = NaN]: number[] = await messageOf(child, measured);
    return new ExecutionEnvironment(child, measured, importMs);
  }

  /** @throws Error where the response is another than expected, or the process ends */
  async call(): Promise<Call> {
    const { file, event, streams, status } = this.#measured;
    const response = messageOf(this.#process, this.#measured);
    this.#process.send({ event, streams });
    const [call]: (Call & { readonly status: unknown })[] = await response;
    if (call && call.status === status) return call;
    throw new Error(`${file} returned ${String(call?.status)}, not ${String(status)}`);
  }

  async close(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill();
    await exit;
  }
}

/** The next message of a process. @throws Error where it ends before: its function cannot be loaded, or crashes */
async function messageOf(child: ChildProcess, { file }: Measured) {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, 'exit', { signal }).then(([status]): never => {
    throw new Error(`${file} has ended with ${String(status)}`);
  });
  try {
    return await Promise.race([once(child, 'message', { signal }), ended]);
  } finally {
    waiting.abort();
  }
}

/** The variables of a function, except those of its tables. */
export const environmentAt = (engine: URL) => ({
  AWS_ENDPOINT_URL_DYNAMODB: engine.href,
  AWS_REGION: account.region,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_SESSION_TOKEN: 'bench',
  CHANGES_TABLE: 'changes',
  REQUESTS_TABLE: 'requests',
  OVERFLOW_USAGE_IDENTIFIER: 'overflow',
  INTERIM_USAGE_IDENTIFIER: 'interim',
  PAGE_ORIGIN: 'https://example.com',
  DEPRECATED_AT: '2026-01-01T00:00:00Z',
  SUNSET_AT: '2027-01-01T00:00:00Z',
  METRICS_NAMESPACE: 'Bench',
  STACK_NAME: 'bench',
});
