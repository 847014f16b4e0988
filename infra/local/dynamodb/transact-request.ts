import { createHash } from 'node:crypto';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type Store, type WriteData } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import put from 'dynalite/validations/putItem.js';
import update from 'dynalite/validations/updateItem.js';
import * as v from 'valibot';

/** One of the writes of a transaction. */
export interface TransactAction {
  readonly data: WriteData;
  /** dynalite's operation that does it. */
  readonly write: typeof putItem;
}

/** Fields of both kinds of action. dynalite checks their values. */
const fields = {
  TableName: v.unknown(),
  ConditionExpression: v.optional(v.unknown()),
  ExpressionAttributeNames: v.optional(v.unknown()),
  ExpressionAttributeValues: v.optional(v.unknown()),
  ReturnValuesOnConditionCheckFailure: v.optional(v.unknown()),
};

/** The kinds of action that the service uses. Another field is refused: its sender must not believe that it is heeded. */
const actionSchema = v.union(
  [
    v.strictObject({ Put: v.strictObject({ ...fields, Item: v.unknown() }) }),
    v.strictObject({ Update: v.strictObject({ ...fields, Key: v.unknown(), UpdateExpression: v.string() }) }),
  ],
  'The local host knows one Put or one Update of a table item in an action',
);

const requestSchema = v.strictObject({
  TransactItems: v.pipe(v.array(actionSchema), v.minLength(1), v.maxLength(100)),
  ClientRequestToken: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(36))),
  ReturnConsumedCapacity: v.optional(v.picklist(['NONE', 'TOTAL']), 'NONE'),
});

/** A request of TransactWriteItems. */
export interface TransactRequest {
  readonly actions: readonly TransactAction[];
  readonly token: string | undefined;
  /** Equal for requests with the same actions. */
  readonly fingerprint: string;
  readonly returnsCapacity: boolean;
}

/** @throws an error of the API on a request that is not valid */
export function parseTransactRequest(body: unknown, store: Store): TransactRequest {
  const result = v.safeParse(requestSchema, body);
  if (!result.success) {
    const problems = result.issues.map((issue) => `Value at '${v.getDotPath(issue)}' is not valid: ${issue.message}`);
    throw db.validationError(problems.join('; '));
  }
  const { TransactItems, ClientRequestToken, ReturnConsumedCapacity } = result.output;
  return {
    actions: TransactItems.map((action) =>
      'Put' in action
        ? { data: checked(action.Put, put, store), write: putItem }
        : { data: checked(action.Update, update, store), write: updateItem },
    ),
    token: ClientRequestToken,
    fingerprint: createHash('sha256').update(JSON.stringify(TransactItems)).digest('base64'),
    returnsCapacity: ReturnConsumedCapacity === 'TOTAL',
  };
}

/** The fields of an action as dynalite's own operation takes them. @throws an error of the API */
function checked(action: object, { types, custom }: typeof put, store: Store): WriteData {
  const data = validations.checkTypes({ ...action }, types);
  validations.checkValidations(data, types, custom, store);
  return data;
}
