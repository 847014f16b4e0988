import type { Readable } from 'node:stream';

/** Header fields in the order and the case they were sent in. */
export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** A request as the gateway takes it from the network. */
export interface GatewayRequest {
  readonly id: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly method: string;
  /** Path below the stage, as sent: `/inventory/1`. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: HeaderFields;
  readonly body: Buffer;
  /** Whether the body was longer than the gateway takes, and was dropped. */
  readonly bodyTooLarge: boolean;
  readonly sourceIp: string;
  readonly protocol: string;
}

export interface GatewayAnswer<Body = Buffer> {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Body;
}

/** An answer whose body may come bit by bit; a stream that fails is an answer that must not look complete. */
export type StreamedAnswer = GatewayAnswer<Buffer | Readable>;

/** The values of a header field, by its name in any case. */
export function headerValues(headers: HeaderFields, name: string): string[] {
  return headers.filter(([field]) => field.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** Groups pairs by name, keeping the spelling that came first. */
export function groupByName(pairs: HeaderFields): Record<string, string[]> {
  const groups = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const group = groups.get(key) ?? { name, values: [] };
    group.values.push(value);
    groups.set(key, group);
  }
  return Object.fromEntries([...groups.values()].map(({ name, values }) => [name, values]));
}

/** The last of the values of each name, as the single-value maps of API Gateway have it. */
export function lastValues(groups: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']));
}
