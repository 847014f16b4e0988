import { type Operation, type OperationId, operations } from '../contract/operations.ts';

/** Names the stability mark of an operation (spec §9, rule 2). */
export const STABILITY_HEADER = 'X-API-Stability';

/** The header of a marked operation; none for one without a mark. */
export function stabilityHeader(id: OperationId): Record<string, string> {
  const { stability }: Operation = operations[id];
  return stability === 'stable' ? {} : { [STABILITY_HEADER]: stability };
}
