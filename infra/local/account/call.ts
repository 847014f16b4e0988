import * as v from 'valibot';
import type { GatewayRecords } from './gateway-records.ts';

/** One call of an operation of API Gateway's API. */
export interface Call {
  readonly records: GatewayRecords;
  /** A parameter of the path, decoded. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
  /** JSON text; empty where there was no body. */
  readonly body: string;
}

/**
 * The operations of API Gateway's API by their routes, such as `GET /apikeys/:apiKey`. Each does its work on the records in
 * memory, all of it or none, and gives the body of the answer; undefined: none. Throws ControlPlaneError.
 */
export type Operations = Readonly<Record<string, (call: Call) => unknown>>;

/** A call that is refused; nothing was changed. */
export class ControlPlaneError extends Error {
  override readonly name = 'ControlPlaneError';
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export const badRequest = (message: string) => new ControlPlaneError(400, 'BadRequestException', message);
export const conflict = (message: string) => new ControlPlaneError(409, 'ConflictException', message);
export const notFound = (message: string) => new ControlPlaneError(404, 'NotFoundException', message);

/** Checks the body of a call. @throws ControlPlaneError naming the member that is wrong, or not known */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, { body }: Call): v.InferOutput<Schema> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body || '{}');
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw badRequest(`${v.getDotPath(issue) ?? 'The request body'}: ${issue.message}`);
}

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 500;

/**
 * The part of a list that a call asks for, in the order of the ids. A position is the id before it, so that a page is
 * right whatever was added or deleted since the page before.
 *
 * @throws ControlPlaneError on a limit that is none
 */
export function pageOf<Item extends { readonly id: string }, Body>(
  items: readonly Item[],
  { query }: Call,
  bodyOf: (item: Item) => Body,
): { readonly item: Body[]; readonly position: string | undefined } {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  if (!(limit >= 1 && limit <= MAX_LIMIT)) throw badRequest(`limit must be a number from 1 to ${MAX_LIMIT}`);
  const after = Buffer.from(query.get('position') ?? '', 'base64url').toString();
  const rest = items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return { item: page.map(bodyOf), position: last && Buffer.from(last.id).toString('base64url') };
}
