import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { CLAIM_TABLE } from '../../infra/local/dynamodb/engine-claim.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { close, listen } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import { type EditableTemplate, ServiceTemplate, writeTemplate } from '../support/service-template.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import type { RequestUsage } from './cost-page.ts';
import { median } from './figure.ts';

const WARM_UP = 10;
const REQUESTS = 40;
const LONGEST_WAIT_MS = 10_000;
const WRITES = new Set(['PutItem', 'UpdateItem', 'TransactWriteItems']);
const READS = new Set(['BatchGetItem', 'GetItem', 'Query']);

/** Waits for the next minute where this one has too little left: a key's requests count by the minute. */
async function waitForRoomyMinute(seconds: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < seconds * 1_000) await sleep(left);
}

/** Capacity units that calls have consumed, by the engine's own account. */
interface Consumed {
  writeUnits: number;
  readUnits: number;
}

/** Requests of one kind. */
export interface RequestKind {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly key: string;
  readonly headers?: () => Record<string, string>;
  readonly body?: string;
  /** Of the answer; any other ends the bench. */
  readonly status: number;
  /** Functions that run for it, the authorizer included. */
  readonly invocations: number;
  /** That all of them may take; 8 by default. */
  readonly seconds?: number;
}

/** A local host whose every request is looked at: capacity by the engine's account, time and log lines by its log files. */
export class MeasuredHost {
  readonly host: LocalHost;
  readonly #consumed: Consumed;
  readonly #close: () => Promise<void>;

  private constructor(host: LocalHost, consumed: Consumed, stop: () => Promise<void>) {
    this.host = host;
    this.#consumed = consumed;
    this.#close = stop;
  }

  static async start(): Promise<MeasuredHost> {
    const engine = await startEmbeddedEngine(undefined);
    const consumed = { writeUnits: 0, readUnits: 0 };
    const meter = createServer((request, response) => void forward(engine.endpoint, request, response, consumed));
    const dynamodb = new URL(`http://127.0.0.1:${await listen(meter)}`);
    const folder = mkdtempSync(join(tmpdir(), 'measured-host-'));
    cpSync(synthesizedOnce(), folder, { recursive: true });
    writeTemplate(folder, 'staging', new ServiceTemplate().with(reportAll));
    const host = await LocalHost.start({ dynamodb, sampleData: false, assembly: folder });
    return new MeasuredHost(host, consumed, async () => {
      await host.close();
      meter.closeAllConnections();
      await close(meter);
      await engine.close();
      rmSync(folder, { recursive: true });
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Sends requests of a kind, one after the other. @returns the mean of what they take, and the median of the time */
  async measure(kind: RequestKind): Promise<RequestUsage> {
    // The first request of a minute takes a write more.
    await waitForRoomyMinute(kind.seconds ?? 8);
    await this.#send(kind, WARM_UP);
    Object.assign(this.#consumed, { writeUnits: 0, readUnits: 0 });
    const { answerBytes, lines } = await this.#send(kind, REQUESTS);
    // Of each function the median: the bench is not alone on its machine.
    const durations = lines.map((ofFile) => ofFile.flatMap((line) => parseReportLine(line)?.durationMs ?? []));
    const billed = durations.filter((ofFile) => ofFile.length > 0).map((ofFile) => median(ofFile.map(Math.ceil)));
    return {
      writeUnits: this.#consumed.writeUnits / REQUESTS,
      readUnits: this.#consumed.readUnits / REQUESTS,
      invocations: durations.flat().length / REQUESTS,
      billedMs: sum(billed),
      logBytes: sum(lines.flat().map(billedBytes)) / REQUESTS,
      answerBytes: answerBytes / REQUESTS,
    };
  }

  /** @returns the bytes of all answers, headers included, and the lines that each log file got for them */
  async #send(kind: RequestKind, count: number): Promise<{ answerBytes: number; lines: string[][] }> {
    const { name, method = 'GET', path, key, headers, body = null, status, invocations } = kind;
    const before = this.#logs();
    let answerBytes = 0;
    for (let request = 0; request < count; request++) {
      const own = { Authorization: `Bearer ${key}`, 'Accept-Encoding': 'identity', ...headers?.() };
      const response = await fetch(`${this.host.baseUrl}${path}`, { method, headers: own, body });
      answerBytes += (await response.arrayBuffer()).byteLength + headerBytes(response);
      if (response.status !== status) throw new Error(`${name} was answered ${response.status}, not ${status}`);
    }
    // Log files are written late.
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const logs = [...this.#logs()];
      const lines = logs.map(([file, text]) =>
        text
          .slice(before.get(file)?.length ?? 0)
          .split('\n')
          .slice(0, -1),
      );
      const reports = lines.flat().filter((line) => parseReportLine(line)).length;
      const requests = lines.filter((_, index) => logs[index]?.[0].includes('AccessLogs')).flat().length;
      if (reports >= count * invocations && requests >= count) return { answerBytes, lines };
      if (performance.now() > deadline) throw new Error('The logs have fewer lines than there were requests');
      await sleep(20);
    }
  }

  /** The text of each log file, but for what is no request's. */
  #logs(): Map<string, string> {
    const { logFolder } = this.host.host;
    const files = readdirSync(logFolder).filter((file) => !/KeySync|^events/.test(file));
    return new Map(files.map((file) => [file, readFileSync(join(logFolder, file), 'utf8')]));
  }
}

/** Lets Lambda report every invocation, for the time that it takes. */
function reportAll({ Resources }: EditableTemplate): void {
  for (const { Type, Properties } of Object.values(Resources)) {
    if (Type !== 'AWS::Lambda::Function') continue;
    const config = v.parse(v.looseObject({ LogGroup: v.unknown() }), Properties['LoggingConfig']);
    Properties['LoggingConfig'] = { ...config, SystemLogLevel: 'INFO' };
  }
}

const callSchema = v.looseObject({});
const capacitySchema = v.object({ CapacityUnits: v.number() });
const answerSchema = v.object({
  __type: v.optional(v.string(), ''),
  // A call for several tables has one for each.
  ConsumedCapacity: v.optional(v.union([capacitySchema, v.array(capacitySchema)]), []),
});

/** Hands a call over to the engine, asks for the capacity that it consumes, and notes it. */
async function forward(
  engine: URL,
  request: IncomingMessage,
  response: ServerResponse,
  consumed: Consumed,
): Promise<void> {
  const { headers } = request;
  const [, action = ''] = String(headers['x-amz-target']).split('.');
  const call = v.parse(callSchema, JSON.parse((await buffer(request)).toString()));
  const metered = WRITES.has(action) || READS.has(action) ? { ...call, ReturnConsumedCapacity: 'TOTAL' } : call;
  const names = ['content-type', 'x-amz-target', 'x-amz-date', 'authorization'];
  const sent = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const answer = await fetch(engine, { method: 'POST', headers: sent, body: JSON.stringify(metered) });
  const text = await answer.text();
  const { ConsumedCapacity, __type } = v.parse(answerSchema, JSON.parse(text));
  // No engine reports it, but DynamoDB bills the write that was refused, by the size of the item: all of ours are small.
  const refused = __type.endsWith('ConditionalCheckFailedException') ? 1 : 0;
  const units = refused + sum([ConsumedCapacity].flat().map(({ CapacityUnits }) => CapacityUnits));
  // A host renews its claim on the engine, on a laptop only.
  if (call['TableName'] !== CLAIM_TABLE) consumed[WRITES.has(action) ? 'writeUnits' : 'readUnits'] += units;
  response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
}

const reportSchema = v.object({ record: v.object({ metrics: v.object({ durationMs: v.number() }) }) });

/** What a line of the local host's log says of an invocation; undefined for any other line. */
function parseReportLine(line: string) {
  if (!line.includes('"platform.report"')) return undefined;
  return v.parse(reportSchema, JSON.parse(line)).record.metrics;
}

/** The reports are for the bench: as it is deployed, Lambda writes none of what succeeds. */
const billedBytes = (line: string): number => (parseReportLine(line) ? 0 : Buffer.byteLength(line) + 1);

function headerBytes({ headers, status, statusText }: Response): number {
  const lines = [`HTTP/1.1 ${status} ${statusText}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), ''];
  return Buffer.byteLength(lines.map((line) => `${line}\r\n`).join(''));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
