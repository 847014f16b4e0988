import * as v from 'valibot';
import { badRequest } from './control-plane-error.ts';
import { parseBody } from './request-body.ts';

const patchBodySchema = v.strictObject({
  patchOperations: v.optional(
    v.array(
      v.strictObject({
        op: v.string(),
        path: v.string(),
        value: v.optional(v.string()),
        from: v.optional(v.string()),
      }),
    ),
    [],
  ),
});

/** A change that API Gateway takes at a path ("Patch Operations" in its API reference). */
export interface Patch<Resource> {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  /** @param value the empty text where an operation without one may go without */
  readonly apply: (resource: Resource, value: string) => Resource;
}

/**
 * Applies the patch operations of a body to a resource, one after the other.
 *
 * @throws ControlPlaneError on an operation that is none of the patches
 */
export function applyPatches<Resource>(
  resource: Resource,
  body: unknown,
  patches: readonly Patch<Resource>[],
): Resource {
  let patched = resource;
  for (const { op, path, value } of parseBody(patchBodySchema, body).patchOperations) {
    const patch = patches.find((candidate) => candidate.op === op && candidate.path === path);
    if (!patch) throw invalidPath(op, path, patches);
    if (value === undefined && op !== 'remove') throw badRequest(`Patch operation ${op} ${path} must have a value`);
    patched = patch.apply(patched, value ?? '');
  }
  return patched;
}

function invalidPath(op: string, path: string, patches: readonly Pick<Patch<never>, 'op' | 'path'>[]): Error {
  if (path.startsWith('/apiStages/')) return badRequest(`This host knows no throttles of methods, as ${path} is`);
  const paths = patches.flatMap((patch) => (patch.op === op ? patch.path : []));
  return badRequest(`Invalid patch path '${path}' specified for op '${op}'. Must be one of: [${paths.join(', ')}]`);
}
