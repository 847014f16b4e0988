import { createHash } from 'node:crypto';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type Store, type WriteData } from 'dynalite/db/index.js';
import validations, { type FieldTypes } from 'dynalite/validations/index.js';
import put from 'dynalite/validations/putItem.js';
import update from 'dynalite/validations/updateItem.js';
import * as v from 'valibot';

/** The type of the field that asks for the old item, as dynalite declares its fields. */
export const returnValuesOnFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] };

/** One of the writes of a transaction. */
export interface TransactAction {
  readonly data: WriteData;
  /** dynalite's operation that does it. */
  readonly write: typeof putItem;
}

/** The kinds of action that the service uses, each with what checks its fields. */
const kinds = {
  Put: { write: putItem, custom: put.custom, types: someOf(put.types, 'Item') },
  Update: {
    write: updateItem,
    custom: update.custom,
    types: { ...someOf(update.types, 'Key'), UpdateExpression: { type: 'String', notNull: true } },
  },
};

/** The fields of dynalite's own operation that an action of a transaction has too. */
function someOf(types: FieldTypes, itemOrKey: 'Item' | 'Key'): FieldTypes {
  const expression = ['ConditionExpression', 'ExpressionAttributeNames', 'ExpressionAttributeValues'];
  const names = new Set(['TableName', itemOrKey, ...expression]);
  const entries = Object.entries(types).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(entries), ReturnValuesOnConditionCheckFailure: returnValuesOnFailure };
}

/** Refuses fields that an action does not have: their sender must not believe that they are heeded. */
const fieldsOf = (kind: keyof typeof kinds) => v.record(v.picklist(Object.keys(kinds[kind].types)), v.unknown());

const requestSchema = v.strictObject({
  TransactItems: v.pipe(
    v.array(
      v.union(
        [v.strictObject({ Put: fieldsOf('Put') }), v.strictObject({ Update: fieldsOf('Update') })],
        'The local host knows one Put or one Update of a table item in an action',
      ),
    ),
    v.minLength(1),
    v.maxLength(100),
  ),
  ClientRequestToken: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(36))),
  ReturnConsumedCapacity: v.optional(v.picklist(['NONE', 'TOTAL']), 'NONE'),
});

/** A request of TransactWriteItems. */
export interface TransactRequest {
  readonly actions: readonly TransactAction[];
  readonly token: string | undefined;
  /** Tells whether two requests have the same actions. */
  readonly fingerprint: string;
  readonly returnsCapacity: boolean;
}

/** @throws an error of the API on a request that is not valid */
export function parseTransactRequest(body: unknown, store: Store): TransactRequest {
  const result = v.safeParse(requestSchema, body);
  if (!result.success) throw db.validationError(result.issues.map(describe).join('; '));
  const { TransactItems, ClientRequestToken, ReturnConsumedCapacity } = result.output;
  return {
    actions: TransactItems.map((action) =>
      'Put' in action ? parseAction('Put', action.Put, store) : parseAction('Update', action.Update, store),
    ),
    token: ClientRequestToken,
    fingerprint: createHash('sha256').update(JSON.stringify(TransactItems)).digest('base64'),
    returnsCapacity: ReturnConsumedCapacity === 'TOTAL',
  };
}

function parseAction(kind: keyof typeof kinds, fields: object, store: Store): TransactAction {
  const { types, custom, write } = kinds[kind];
  const data = validations.checkTypes({ ...fields }, types);
  validations.checkValidations(data, types, custom, store);
  return { data, write };
}

function describe(issue: v.BaseIssue<unknown>): string {
  return `Value at '${v.getDotPath(issue)}' is not valid: ${issue.message}`;
}
