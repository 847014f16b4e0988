import * as v from 'valibot';
import { badRequest } from './control-plane-error.ts';

/** The longest body that the host reads of a call. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Reads the JSON object of a body; an empty one where there is no body. @throws ControlPlaneError where it is none */
export function parseJson(body: Buffer): object {
  if (body.length === 0) return {};
  const value = jsonOf(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw badRequest('The request body must be a JSON object');
}

/** Checks the body of a call, or a member of it. @throws ControlPlaneError naming the member that is wrong */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue) ?? '';
  if (issue.expected === 'never') throw badRequest(`This host does not know the member ${path} of the request body`);
  throw badRequest(path === '' ? issue.message : `${path}: ${issue.message}`);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw badRequest('Unable to parse request body');
  }
}
