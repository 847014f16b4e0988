import type { Readable } from 'node:stream';

/** Header fields in the order and case as sent. */
export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** A raw request to the gateway. */
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
  /** Whether the body exceeded the gateway's limit, and was discarded. */
  readonly bodyTooLarge: boolean;
  readonly sourceIp: string;
  readonly protocol: string;
}

export interface GatewayHttpResponse<Body = Buffer> {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Body;
}

/** A response, possibly streamed; if its stream fails, it must not look complete. */
export type StreamedResponse = GatewayHttpResponse<Buffer | Readable>;
