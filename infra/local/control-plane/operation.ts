import type { GatewayRecords } from '../gateway-records/gateway-records.ts';
import type { ApiStage } from '../gateway-records/usage-plan.ts';
import type { Query } from './query.ts';

/** What an operation works on. */
export interface Gateway {
  readonly records: GatewayRecords;
  /** The one stage that there is. */
  readonly apiStage: ApiStage;
}

/** One call of an operation. */
export interface Call {
  /** Parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Parsed JSON; an empty object where there was no body. */
  readonly body: unknown;
}

/** An operation of API Gateway's API. */
export interface Operation {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/apikeys/{apiKey}`. */
  readonly path: string;
  /** Names of the query parameters that it takes. */
  readonly query?: readonly string[];
  readonly status: number;
  /**
   * Does the work on the records in memory, all of it or none.
   *
   * @returns the body of the answer; undefined: none
   * @throws ControlPlaneError
   */
  readonly run: (gateway: Gateway, call: Call) => unknown;
}

/** The parameter of the path. */
export function parameter({ parameters }: Call, name: string): string {
  return parameters[name] ?? '';
}
