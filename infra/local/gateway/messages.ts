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

export interface GatewayHttpResponse<Body = Buffer> {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Body;
}

/** An answer whose body may come bit by bit; a stream that fails is an answer that must not look complete. */
export type StreamedResponse = GatewayHttpResponse<Buffer | Readable>;
