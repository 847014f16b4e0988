import { createHash } from 'node:crypto';
import db, { type Store } from 'dynalite/db/index.js';
import * as v from 'valibot';
import { fieldNames, kindNames, parseAction, type TransactAction, type TransactKind } from './transact-action.ts';

const actionSchema = v.pipe(
  v.strictObject({
    Put: fieldsOf('Put'),
    Update: fieldsOf('Update'),
    Delete: fieldsOf('Delete'),
    ConditionCheck: fieldsOf('ConditionCheck'),
  }),
  v.check((action) => Object.keys(action).length === 1, 'An action is one of Put, Update, Delete and ConditionCheck'),
);

/** Refuses fields that an action does not have: their sender must not believe that they are heeded. */
function fieldsOf(kind: TransactKind) {
  return v.optional(v.record(v.picklist(fieldNames(kind)), v.unknown()));
}

const requestSchema = v.strictObject({
  TransactItems: v.pipe(v.array(actionSchema), v.minLength(1), v.maxLength(100)),
  ClientRequestToken: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(36))),
  ReturnConsumedCapacity: v.optional(v.picklist(['NONE', 'TOTAL', 'INDEXES']), 'NONE'),
  // Only a table with local indexes has something to tell, and no table has one.
  ReturnItemCollectionMetrics: v.optional(v.literal('NONE')),
});

/** A request of TransactWriteItems. */
export interface TransactRequest {
  readonly actions: readonly TransactAction[];
  readonly token: string | undefined;
  /** Tells whether two requests have the same actions. */
  readonly fingerprint: string;
  readonly returnConsumedCapacity: 'NONE' | 'TOTAL' | 'INDEXES';
}

/** @throws an error of the API on a request that is not valid */
export function parseTransactRequest(body: unknown, store: Store): TransactRequest {
  const result = v.safeParse(requestSchema, body);
  if (!result.success) throw db.validationError(result.issues.map(describe).join('; '));
  const { TransactItems, ClientRequestToken, ReturnConsumedCapacity } = result.output;
  const fingerprint = createHash('sha256').update(JSON.stringify(TransactItems)).digest('base64');
  const actions = TransactItems.flatMap((action) =>
    kindNames.flatMap((kind) => (action[kind] ? [parseAction(kind, action[kind], store)] : [])),
  );
  return { actions, token: ClientRequestToken, fingerprint, returnConsumedCapacity: ReturnConsumedCapacity };
}

function describe(issue: v.BaseIssue<unknown>): string {
  return `Value at '${v.getDotPath(issue)}' is not valid: ${issue.message}`;
}
