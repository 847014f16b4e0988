import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { STREAMING_NODE_OPTIONS } from '../../infra/stack/operation-functions.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';

/** One list, from the invocation on. */
export interface ListRun {
  /** Milliseconds until the first byte of the body, and until the last. */
  readonly first: number;
  readonly total: number;
  /** Of the body. */
  readonly bytes: number;
  /** The most memory that the environment has had so far while it sent something, in bytes. */
  readonly memory: number;
}

/** What Lambda's Node.js runtime is to the function; plain JavaScript, so that it adds nothing to the memory. */
const environmentScript = `
  const { Writable } = require('node:stream');
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  const { handler } = require(process.argv[1]);
  let memory = 0;
  process.on('message', async (event) => {
    let bytes = 0;
    let first;
    const start = performance.now();
    const stream = new Writable({
      write(chunk, _, done) {
        bytes += chunk.length;
        if (chunk.length > 0) first ??= performance.now() - start;
        memory = Math.max(memory, process.memoryUsage.rss());
        done();
      },
    });
    await handler(event, stream, {});
    const total = performance.now() - start;
    process.send({ first, total, bytes, memory });
  });
`;

/** The list function from its bundle, in a process of its own, as an execution environment of Lambda is. */
export class ListEnvironment {
  readonly #process: ChildProcess;

  constructor(bundleFolder: string, table: string, engine: URL) {
    this.#process = spawn(process.execPath, ['--eval', environmentScript, join(bundleFolder, 'index.js')], {
      env: {
        AWS_ENDPOINT_URL_DYNAMODB: engine.href,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        STOCK_TABLE: table,
        METRICS_NAMESPACE: 'Bench',
        STACK_NAME: 'bench',
        NODE_OPTIONS: STREAMING_NODE_OPTIONS,
      },
      // Its lines about requests are not what the bench prints.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  async run(): Promise<ListRun> {
    const answer = once(this.#process, 'message');
    this.#process.send(aProxyEvent({ authorizer: admittedContext }));
    const [run]: ListRun[] = await answer;
    if (!run) throw new Error('The list function gave no answer');
    return run;
  }

  close(): void {
    this.#process.kill();
  }
}
