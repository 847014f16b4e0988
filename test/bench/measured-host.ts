import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { close, engineAt, listen } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import {
  type EditableTemplate,
  inventoryTemplate,
  propertiesIn,
  ServiceTemplate,
  writeTemplate,
} from '../support/service-template.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { until } from '../support/until.ts';
import type { RequestUsage } from './cost-page.ts';
import { median, type Size } from './figure.ts';

/** Requests of a kind, and those before them that do not count; in a small round few, as five batches may burst. */
const COUNTS = { whole: { requests: 40, warmUp: 10 }, small: { requests: 2, warmUp: 0 } };
const WRITES = new Set(['PutItem', 'UpdateItem', 'TransactWriteItems']);
const READS = new Set(['BatchGetItem', 'GetItem', 'Query']);

/** What a line of the access log has that a bench does not know, as long as it is on AWS. */
const ON_AWS = {
  requestId: '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d',
  requestTime: '21/Nov/2026:09:30:00 +0000',
  'identity.sourceIp': '203.0.113.7',
  responseLatency: '12',
  integrationLatency: '8',
  'authorizer.principalId': 'k3y1dk3y1d',
  'authorizer.plan': 'business',
  'authorizer.outcome': 'ADMITTED',
};

/** Waits for the next minute where this one has too little left: a key's requests count by the minute. */
async function waitForEmptyMinute(seconds: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < seconds * 1_000) await sleep(left);
}

/** On the way to the engine: the capacity units that calls have consumed, by its own account. */
interface Meter {
  writeUnits: number;
  readUnits: number;
}

export interface RequestKind {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly key: string;
  readonly headers?: () => Record<string, string>;
  readonly body?: string;
  /** Of the response; any other ends the bench. */
  readonly status: number;
  /** Functions that run for it, the authorizer included. */
  readonly invocations: number;
  /** That all of them may take; 8 by default. */
  readonly seconds?: number;
}

/**
 * A local server whose every request is measured: capacity by the engine's account, time and lines of functions by its
 * log files. It writes no access log, which API Gateway does: its line is made of the format that is deployed.
 */
export class MeasuredHost {
  readonly host: LocalHost;
  readonly meter: Meter;
  readonly #size: Size;
  readonly #close: () => Promise<void>;

  private constructor(host: LocalHost, meter: Meter, size: Size, stop: () => Promise<void>) {
    this.host = host;
    this.meter = meter;
    this.#size = size;
    this.#close = stop;
  }

  static async start(size: Size): Promise<MeasuredHost> {
    const engine = await startEmbeddedEngine(undefined);
    const meter = { writeUnits: 0, readUnits: 0 };
    const proxy = createServer((request, response) => void forward(engine.endpoint, request, response, meter));
    const dynamodb = new URL(`http://127.0.0.1:${await listen(proxy)}`);
    const directory = mkdtempSync(join(tmpdir(), 'measured-host-'));
    cpSync(synthesizedOnce(), directory, { recursive: true });
    writeTemplate(directory, 'staging', new ServiceTemplate().with(reportAll));
    const host = await LocalHost.start({ sampleData: false, assembly: directory }, engineAt(dynamodb));
    return new MeasuredHost(host, meter, size, async () => {
      await host.close();
      proxy.closeAllConnections();
      await close(proxy);
      await engine.close();
      rmSync(directory, { recursive: true });
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Sends requests of a kind, one after the other. @returns the mean of what they take, and the median of the time */
  async measure(kind: RequestKind): Promise<RequestUsage> {
    const { requests, warmUp } = COUNTS[this.#size];
    // The first request of a minute takes a write more.
    await waitForEmptyMinute(this.#size === 'small' ? 1 : (kind.seconds ?? 8));
    await this.#send(kind, warmUp);
    Object.assign(this.meter, { writeUnits: 0, readUnits: 0 });
    const { responseBytes, lines } = await this.#send(kind, requests);
    // Of each function the median: the bench is not alone on its machine.
    const durations = lines.map((ofFile) => ofFile.flatMap((line) => parseReportLine(line)?.durationMs ?? []));
    const billed = durations.filter((ofFile) => ofFile.length > 0).map((ofFile) => median(ofFile.map(Math.ceil)));
    return {
      writeUnits: this.meter.writeUnits / requests,
      readUnits: this.meter.readUnits / requests,
      invocations: durations.flat().length / requests,
      billedMs: sum(billed),
      logBytes: sum(lines.flat().map(billedBytes)) / requests + accessLineBytes(kind, responseBytes / requests),
      responseBytes: responseBytes / requests,
    };
  }

  /** @returns the bytes of all responses, headers included, and the lines that each log file got for them */
  async #send(kind: RequestKind, count: number): Promise<{ responseBytes: number; lines: string[][] }> {
    const { name, method = 'GET', path, key, headers, body = null, status, invocations } = kind;
    const before = this.#logs();
    let responseBytes = 0;
    for (let request = 0; request < count; request++) {
      const own = { Authorization: `Bearer ${key}`, 'Accept-Encoding': 'identity', ...headers?.() };
      const response = await fetch(`${this.host.baseUrl}${path}`, { method, headers: own, body });
      responseBytes += (await response.arrayBuffer()).byteLength + headerBytes(response);
      if (response.status !== status) throw new Error(`${name} returned ${response.status}, not ${status}`);
    }
    const wanted = count * invocations;
    let lines: string[][] = [];
    let reports = 0;
    await until(`the logs report ${wanted} invocations: ${name}`, () => {
      lines = Array.from(this.#logs(), ([file, text]) => linesOf(text.slice(before.get(file)?.length ?? 0)));
      reports = lines.flat().filter((line) => parseReportLine(line)).length;
      return reports >= wanted;
    });
    if (reports === wanted) return { responseBytes, lines };
    throw new Error(`${name}: the logs report ${reports} invocations, not ${wanted}`);
  }

  /** The text of each log file, but for what is no request's. */
  #logs(): Map<string, string> {
    const { logDirectory } = this.host.host;
    const files = readdirSync(logDirectory).filter((file) => !/KeySync|^events/.test(file));
    return new Map(files.map((file) => [file, readFileSync(join(logDirectory, file), 'utf8')]));
  }
}

/** Lets Lambda report every invocation, for the time that it takes. */
function reportAll({ Resources }: EditableTemplate): void {
  for (const { Type, Properties } of Object.values(Resources)) {
    // Those of the CDK have none.
    if (Type !== 'AWS::Lambda::Function' || !Properties['LoggingConfig']) continue;
    const config = v.parse(v.looseObject({ LogGroup: v.unknown() }), Properties['LoggingConfig']);
    Properties['LoggingConfig'] = { ...config, SystemLogLevel: 'INFO' };
  }
}

/** Those that are whole. */
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

const callSchema = v.looseObject({});
const capacitySchema = v.object({ CapacityUnits: v.number() });
const responseSchema = v.object({
  __type: v.optional(v.string(), ''),
  // A call for several tables has one for each.
  ConsumedCapacity: v.optional(v.union([capacitySchema, v.array(capacitySchema)]), []),
});

/** Hands a call over to the engine, asks for the capacity that it consumes, and notes it. */
async function forward(engine: URL, request: IncomingMessage, response: ServerResponse, meter: Meter): Promise<void> {
  const { headers } = request;
  const [, action = ''] = String(headers['x-amz-target']).split('.');
  const call = v.parse(callSchema, JSON.parse((await buffer(request)).toString()));
  const metered = WRITES.has(action) || READS.has(action) ? { ...call, ReturnConsumedCapacity: 'TOTAL' } : call;
  const names = ['content-type', 'x-amz-target', 'x-amz-date', 'authorization'];
  const sent = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const reply = await fetch(engine, { method: 'POST', headers: sent, body: JSON.stringify(metered) });
  const text = await reply.text();
  const { ConsumedCapacity, __type } = v.parse(responseSchema, JSON.parse(text));
  // No engine reports it, but DynamoDB bills a refused write, by the size of the item: all of ours are small.
  const refused = __type.endsWith('ConditionalCheckFailedException') ? 1 : 0;
  const units = refused + sum([ConsumedCapacity].flat().map(({ CapacityUnits }) => CapacityUnits));
  meter[WRITES.has(action) ? 'writeUnits' : 'readUnits'] += units;
  response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
}

const reportSchema = v.object({ record: v.object({ metrics: v.object({ durationMs: v.number() }) }) });

/** What a line of the local server's log says of an invocation; undefined for any other line. */
function parseReportLine(line: string) {
  if (!line.includes('"platform.report"')) return undefined;
  return v.parse(reportSchema, JSON.parse(line)).record.metrics;
}

/** The reports are for the bench: as it is deployed, Lambda writes none of what succeeds. */
const billedBytes = (line: string): number => (parseReportLine(line) ? 0 : Buffer.byteLength(line) + 1);

const accessLogSchema = v.object({ AccessLogSetting: v.object({ Format: v.string() }) });
const [accessLog] = propertiesIn(inventoryTemplate('production'), 'AWS::ApiGateway::Stage');

function accessLineBytes({ method = 'GET', path, status }: RequestKind, responseBytes: number): number {
  const { Format } = v.parse(accessLogSchema, accessLog).AccessLogSetting;
  const own = {
    httpMethod: method,
    resourcePath: path.split('?')[0],
    status,
    responseLength: Math.round(responseBytes),
  };
  const values = new Map(Object.entries({ ...ON_AWS, ...own }));
  const line = Format.replaceAll(/\$context\.([\w.]+)/g, (_, name: string) => String(values.get(name) ?? '-'));
  return Buffer.byteLength(line) + 1;
}

function headerBytes({ headers, status, statusText }: Response): number {
  const lines = [`HTTP/1.1 ${status} ${statusText}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), ''];
  return Buffer.byteLength(lines.map((line) => `${line}\r\n`).join(''));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
