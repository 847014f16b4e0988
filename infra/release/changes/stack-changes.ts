import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { formatDifferences, fullDiff, ResourceImpact, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { strandedTables, type TableChange, tableChanges } from './table-changes.ts';
import type { StackIdentity, Template } from './template.ts';

/** What a deploy does to one stack. */
export interface StackChanges {
  readonly id: string;
  /** In a few words, such as `1 replaced, 2 changed`; undefined where nothing changes. */
  readonly summary: string | undefined;
  /** As `cdk diff` prints it; empty where there is nothing to compare. */
  readonly details: string;
  readonly tables: readonly TableChange[];
}

/**
 * Compares what a stack was deployed from with what it is to be deployed from.
 *
 * @param before undefined where the stack is not deployed yet
 * @param after undefined where the app no longer has the stack
 */
export function compareStack(
  { id }: StackIdentity,
  before: Template | undefined,
  after: Template | undefined,
): StackChanges {
  if (!before) return changes(id, `new, with ${Object.keys(after?.Resources ?? {}).length} resources`);
  if (!after) return changes(id, 'no longer in the app; it stays as it is', '', strandedTables(id, before));
  const diff = fullDiff(before, after);
  return changes(id, summaryOf(diff), detailsOf(diff), tableChanges(id, before, after, diff));
}

function changes(
  id: string,
  summary: string | undefined,
  details = '',
  tables: readonly TableChange[] = [],
): StackChanges {
  return { id, summary, details, tables };
}

const impacts: readonly (readonly [impact: ResourceImpact, word: string])[] = [
  [ResourceImpact.WILL_DESTROY, 'deleted'],
  [ResourceImpact.WILL_ORPHAN, 'left behind'],
  [ResourceImpact.WILL_REPLACE, 'replaced'],
  [ResourceImpact.MAY_REPLACE, 'perhaps replaced'],
  [ResourceImpact.WILL_UPDATE, 'changed'],
  [ResourceImpact.WILL_CREATE, 'added'],
  [ResourceImpact.WILL_IMPORT, 'imported'],
];

function summaryOf(diff: TemplateDiff): string | undefined {
  if (diff.isEmpty) return undefined;
  const found = Object.values(diff.resources.changes).map(({ changeImpact }) => changeImpact);
  const counted = impacts
    .map(([impact, word]) => ({ word, count: found.filter((one) => one === impact).length }))
    .filter(({ count }) => count > 0)
    .map(({ word, count }) => `${count} ${word}`);
  return counted.length > 0 ? counted.join(', ') : 'no resources, only what stands around them';
}

function detailsOf(diff: TemplateDiff): string {
  if (diff.isEmpty) return '';
  const parts: string[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      parts.push(String(chunk));
      done();
    },
  });
  formatDifferences(stream, diff);
  return stripVTControlCharacters(parts.join('')).trim();
}
