import * as v from 'valibot';
import type { GatewayRecords } from './gateway-records.ts';

/** One call of an operation. */
export interface Call {
  /** A parameter of the path, decoded. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
  /** Parsed JSON; an empty object where there was no body. */
  readonly body: unknown;
}

/** An operation of API Gateway's API. */
export interface Operation {
  readonly name: string;
  /** Such as `GET /apikeys/:apiKey`. */
  readonly route: string;
  /** Names of the query parameters that it takes. */
  readonly query?: readonly string[];
  /** By default the usual one of its method. */
  readonly status?: number;
  /**
   * Does the work on the records in memory, all of it or none.
   *
   * @returns the body of the answer; undefined: none
   * @throws ControlPlaneError
   */
  readonly run: (records: GatewayRecords, call: Call) => unknown;
}

/** The errors of API Gateway's API that the host answers with, and their statuses. */
const errorStatuses = {
  BadRequestException: 400,
  ConflictException: 409,
  MissingAuthenticationTokenException: 403,
  NotFoundException: 404,
  UnknownOperationException: 404,
} as const satisfies Record<string, number>;

/** A call that is refused; nothing was changed. */
export class ControlPlaneError extends Error {
  override readonly name = 'ControlPlaneError';
  readonly type: string;
  readonly status: number;

  constructor(type: keyof typeof errorStatuses, message: string) {
    super(message);
    this.type = type;
    this.status = errorStatuses[type];
  }
}

export const badRequest = (message: string): ControlPlaneError => new ControlPlaneError('BadRequestException', message);
export const conflict = (message: string): ControlPlaneError => new ControlPlaneError('ConflictException', message);
export const notFound = (message: string): ControlPlaneError => new ControlPlaneError('NotFoundException', message);

/** Checks the body of a call, or a member of it. @throws ControlPlaneError naming the member that is wrong */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue) ?? '';
  if (issue.expected === 'never') throw badRequest(`This host does not know the member ${path} of the request body`);
  throw badRequest(path === '' ? issue.message : `${path}: ${issue.message}`);
}

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 500;

/** Query parameters of an operation that pages. */
export const pagingParameters = ['limit', 'position'] as const;

/**
 * The part of a list that a call asks for, in the order of the ids. A position is the id before it, so that a page is
 * right whatever was added or deleted since the page before.
 *
 * @returns the items, and where the next page starts: undefined on the last
 * @throws ControlPlaneError on a limit that is none
 */
export function pageOf<Item extends { readonly id: string }>(items: readonly Item[], query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  if (!(limit >= 1 && limit <= MAX_LIMIT)) throw badRequest(`limit must be a number from 1 to ${MAX_LIMIT}`);
  const after = Buffer.from(query.get('position') ?? '', 'base64url').toString();
  const rest = items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return { items: page, position: last && Buffer.from(last.id).toString('base64url') };
}
