import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HostError } from '../host-error.ts';
import { parseReportLine } from '../lambda/report-line.ts';

/** A line of a log group. */
export interface LogEvent {
  readonly logGroup: string;
  /** Unix milliseconds. A line that does not tell has the time of the next that does: that of its request's own line. */
  readonly at: number;
  readonly message: string;
  /** Of a line of JSON. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

const FILE_ENDING = '.log';

/**
 * Reads the log groups of a local host, of one that is running too.
 *
 * @param folder where the host keeps a file per log group
 * @throws HostError where there is no such folder
 */
export async function readLogEvents(folder: string): Promise<LogEvent[]> {
  if (!existsSync(folder)) throw new HostError(`There are no logs in ${folder}: start the service with npm start`);
  const events: LogEvent[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith(FILE_ENDING))) {
    await readFile(join(folder, file), file.slice(0, -FILE_ENDING.length), events);
  }
  return events.toSorted((one, other) => one.at - other.at);
}

async function readFile(file: string, logGroup: string, events: LogEvent[]): Promise<void> {
  let last: number | undefined;
  let untimed: Omit<LogEvent, 'at'>[] = [];
  for await (const message of createInterface({ input: createReadStream(file) })) {
    const fields = fieldsOf(message);
    untimed.push({ logGroup, message, fields });
    const at = fields ? timeOf(fields) : parseReportLine(message)?.endedAt;
    if (at === undefined) continue;
    for (const event of untimed) events.push({ ...event, at });
    untimed = [];
    last = at;
  }
  // Of a request that is still under way. In a log without any time there is none to tell.
  if (last !== undefined) for (const event of untimed) events.push({ ...event, at: last });
}

function fieldsOf(message: string): Readonly<Record<string, unknown>> | undefined {
  if (!message.startsWith('{')) return undefined;
  try {
    const fields: unknown = JSON.parse(message);
    return isRecord(fields) ? fields : undefined;
  } catch {
    // The last line of a host that is writing it now, or a function's own text.
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function timeOf({ _aws: metadata, time }: Readonly<Record<string, unknown>>): number | undefined {
  if (isRecord(metadata) && typeof metadata['Timestamp'] === 'number') return metadata['Timestamp'];
  return typeof time === 'string' ? parseCommonLogTime(time) : undefined;
}

/** Reads a time such as `21/Nov/2026:12:00:00 +0000`: to the second. */
export function parseCommonLogTime(text: string): number | undefined {
  const time = Date.parse(text.replace(/^(\d+)\/(\w+)\/(\d+):/, '$1 $2 $3 '));
  return Number.isNaN(time) ? undefined : time;
}
