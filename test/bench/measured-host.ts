import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { RequestUsage } from '../../infra/costs/cost-model.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { type Host, startHost } from '../../infra/local/host.ts';
import type { InvocationReport } from '../../infra/local/lambda/report-line.ts';
import { close as closeServer, listen } from '../support/listening.ts';
import { parseReportLine } from '../support/parsed-report-line.ts';
import { roomyMinute } from '../support/roomy-minute.ts';
import { median } from './figure.ts';

const WARM_UP = 10;
const REQUESTS = 40;
const LONGEST_WAIT_MS = 10_000;

/** Lambda writes these as well; the local host does not. */
const START_AND_END = [
  'START RequestId: 00000000-0000-0000-0000-000000000000 Version: 10',
  'END RequestId: 00000000-0000-0000-0000-000000000000',
]
  .map((line) => `${line}\n`)
  .join('');

/** Capacity units that one table has consumed, by the engine's own account. */
export interface Consumed {
  readonly table: string;
  readonly operation: string;
  readonly units: number;
}

const callSchema = v.looseObject({ TableName: v.optional(v.string()) });

const capacitySchema = v.object({ TableName: v.string(), CapacityUnits: v.number() });

const answerSchema = v.object({
  __type: v.optional(v.string()),
  // A call for several tables tells of each.
  ConsumedCapacity: v.optional(v.union([capacitySchema, v.array(capacitySchema)]), []),
});

/** Stands between the host and a DynamoDB engine, asks for the consumed capacity of every call and keeps it. */
class CapacityMeter {
  readonly #engine: URL;
  readonly #server = createServer((request, response) => void this.#forward(request, response));
  readonly #consumed: Consumed[] = [];

  constructor(engine: URL) {
    this.#engine = engine;
  }

  async listen(): Promise<URL> {
    return new URL(`http://127.0.0.1:${await listen(this.#server)}`);
  }

  /** What was consumed since the last call. */
  take(): Consumed[] {
    return this.#consumed.splice(0);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return closeServer(this.#server);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const call = v.parse(callSchema, JSON.parse((await buffer(request)).toString()));
    const { TableName = '' } = call;
    const isMetered = ['GetItem', 'PutItem', 'UpdateItem', 'TransactWriteItems', 'Query'].includes(operation);
    const answer = await fetch(this.#engine, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': String(request.headers['x-amz-target']),
        'x-amz-date': String(request.headers['x-amz-date']),
        authorization: String(request.headers.authorization),
      },
      body: JSON.stringify(isMetered ? { ...call, ReturnConsumedCapacity: 'TOTAL' } : call),
    });
    const text = await answer.text();
    const { ConsumedCapacity, __type } = v.parse(answerSchema, JSON.parse(text));
    for (const capacity of [ConsumedCapacity].flat()) {
      this.#consumed.push({ table: capacity.TableName, operation, units: capacity.CapacityUnits });
    }
    if (__type?.endsWith('ConditionalCheckFailedException') === true) {
      // No engine tells, but DynamoDB bills the write that was refused, by the size of the item: all of ours are small.
      this.#consumed.push({ table: TableName, operation, units: 1 });
    }
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  }
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
  /** Requests to send before those that are measured. */
  readonly warmUp?: number;
  /** Seconds that all of them may take, and those of the next kinds that have to fall into the same minute. */
  readonly seconds?: number;
}

/** A local host whose every request is looked at: capacity by the engine's account, time and log lines by its log files. */
export class MeasuredHost {
  readonly host: Host;
  /** Address of the engine itself. */
  readonly engine: URL;
  readonly #meter: CapacityMeter;
  readonly #close: () => Promise<void>;
  readonly #logged = { invocations: 0, requests: 0 };

  private constructor(host: Host, engine: URL, meter: CapacityMeter, close: () => Promise<void>) {
    this.host = host;
    this.engine = engine;
    this.#meter = meter;
    this.#close = close;
  }

  /** @param assembly folder of the cloud assembly to run, if not a new one */
  static async start(assembly?: string): Promise<MeasuredHost> {
    const engine = await startEmbeddedEngine(undefined);
    const meter = new CapacityMeter(engine.endpoint);
    const dynamodb = await meter.listen();
    const options = { host: '127.0.0.1', port: 0, dataFolder: undefined, dynamodb, sampleData: false };
    const host = await startHost(assembly === undefined ? options : { ...options, assembly });
    return new MeasuredHost(host, engine.endpoint, meter, async () => {
      await host.close();
      await meter.close();
      await engine.close();
    });
  }

  /** Capacity that was consumed since the last call. */
  consumed(): Consumed[] {
    return this.#meter.take();
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Sends requests of a kind, one after the other. @returns the mean of what they take, and the median of the time */
  async measure(kind: RequestKind): Promise<RequestUsage> {
    // The first request of a minute takes a write more.
    await roomyMinute(kind.seconds ?? 8);
    await this.#send(kind, kind.warmUp ?? WARM_UP);
    const before = this.#logs();
    this.#meter.take();
    const answerBytes = await this.#send(kind, REQUESTS);
    const consumed = this.#meter.take();
    const newLines = [...this.#logs()].map(([file, text]) =>
      text
        .slice(before.get(file)?.length ?? 0)
        .split('\n')
        .slice(0, -1),
    );
    const lines = newLines.flat();
    // Of each function the median: the bench is not alone on its machine.
    const reports = newLines.map((ofFile) => ofFile.flatMap((line) => parseReportLine(line) ?? []));
    const invocations = reports.flat().length;
    const billed = reports.filter((ofFile) => ofFile.length > 0).map(medianBilledMs);
    const perRequest = (numbers: readonly number[]): number =>
      numbers.reduce((total, number) => total + number, 0) / REQUESTS;
    return {
      writeUnits: perRequest(consumed.map((entry) => (isWrite(entry) ? entry.units : 0))),
      readUnits: perRequest(consumed.map((entry) => (isWrite(entry) || this.#isOfEngine(entry) ? 0 : entry.units))),
      invocations: invocations / REQUESTS,
      billedMs: billed.reduce((sum, milliseconds) => sum + milliseconds, 0),
      logBytes: perRequest([...lines.map(billedBytes), invocations * START_AND_END.length]),
      answerBytes: answerBytes / REQUESTS,
    };
  }

  /** @returns the bytes of all answers, headers included */
  async #send(kind: RequestKind, count: number): Promise<number> {
    const { name, method = 'GET', path, key, headers, body, status, invocations } = kind;
    let bytes = 0;
    for (let request = 0; request < count; request++) {
      const response = await fetch(`${this.host.baseUrl}${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Accept-Encoding': 'identity', ...headers?.() },
        body: body ?? null,
      });
      bytes += (await response.arrayBuffer()).byteLength + headerBytes(response);
      if (response.status !== status) throw new Error(`${name} was answered ${response.status}, not ${status}`);
    }
    this.#logged.requests += count;
    this.#logged.invocations += count * invocations;
    await this.#untilLogged();
    return bytes;
  }

  /** Log files are written late. */
  async #untilLogged(): Promise<void> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const logs = [...this.#logs()];
      const lines = logs.flatMap(([, text]) => text.split('\n'));
      const invocations = lines.filter((line) => parseReportLine(line)).length;
      const requests = logs.flatMap(([file, text]) => (file.includes('AccessLogs') ? text.trimEnd().split('\n') : []));
      if (invocations >= this.#logged.invocations && requests.length >= this.#logged.requests) return;
      if (performance.now() > deadline) throw new Error('The logs have fewer lines than there were requests');
      await sleep(20);
    }
  }

  /** The text of each log file, but for what is no request's. */
  #logs(): Map<string, string> {
    const files = readdirSync(this.host.logFolder).filter((file) => !/KeySync|^events/.test(file));
    return new Map(files.map((file) => [file, readFileSync(join(this.host.logFolder, file), 'utf8')]));
  }

  /** dynalite does not hand over the item with a failed condition, so that it has to be read: DynamoDB does. */
  #isOfEngine({ table, operation }: Consumed): boolean {
    return table === this.host.outputs.KeysTableName && operation === 'GetItem';
  }
}

const isWrite = ({ operation }: Consumed): boolean =>
  ['PutItem', 'UpdateItem', 'TransactWriteItems'].includes(operation);

const medianBilledMs = (reports: readonly InvocationReport[]): number =>
  median(reports.map(({ durationMs }) => Math.ceil(durationMs)));

/** CloudWatch Logs keeps the time of a line beside it; the file has that of a report in front. */
function billedBytes(line: string): number {
  const text = parseReportLine(line) ? line.slice(line.indexOf('\t') + 1) : line;
  return Buffer.byteLength(text) + 1;
}

function headerBytes({ headers, status, statusText }: Response): number {
  const lines = [`HTTP/1.1 ${status} ${statusText}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), ''];
  return Buffer.byteLength(lines.map((line) => `${line}\r\n`).join(''));
}
