import deleteItem from 'dynalite/actions/deleteItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { Store, WriteData } from 'dynalite/db/index.js';
import deletion from 'dynalite/validations/deleteItem.js';
import validations, { type FieldTypes } from 'dynalite/validations/index.js';
import put from 'dynalite/validations/putItem.js';
import update from 'dynalite/validations/updateItem.js';
import { returnValuesOnFailure } from './old-item.ts';

/** One of the writes, or checks, of a transaction. */
export interface TransactAction {
  readonly data: WriteData;
  /** dynalite's operation that does it. */
  readonly write: typeof putItem;
  /** False for a condition that is only checked. */
  readonly isWritten: boolean;
}

const expression = ['ConditionExpression', 'ExpressionAttributeNames', 'ExpressionAttributeValues'];
const required = { type: 'String', notNull: true };

/** The kinds of action, each with what checks its fields. */
const kinds = {
  Put: { write: putItem, custom: put.custom, types: someOf(put.types, 'Item'), isWritten: true },
  Update: {
    write: updateItem,
    custom: update.custom,
    types: { ...someOf(update.types, 'Key'), UpdateExpression: required },
    isWritten: true,
  },
  Delete: { write: deleteItem, custom: deletion.custom, types: someOf(deletion.types, 'Key'), isWritten: true },
  // A deletion that is not made: it checks its condition as any write does.
  ConditionCheck: {
    write: deleteItem,
    custom: deletion.custom,
    types: { ...someOf(deletion.types, 'Key'), ConditionExpression: required },
    isWritten: false,
  },
};

export type TransactKind = keyof typeof kinds;

export const kindNames = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const satisfies readonly TransactKind[];

/** The names of the fields that an action of a kind may have. */
export function fieldNames(kind: TransactKind): string[] {
  return Object.keys(kinds[kind].types);
}

/** @throws an error of the API on fields that are not valid */
export function parseAction(kind: TransactKind, fields: object, store: Store): TransactAction {
  const { types, custom, write, isWritten } = kinds[kind];
  const data = validations.checkTypes({ ...fields }, types);
  validations.checkValidations(data, types, custom, store);
  return { data, write, isWritten };
}

/** The fields of dynalite's own operation that an action of a transaction has too. */
function someOf(types: FieldTypes, itemOrKey: 'Item' | 'Key'): FieldTypes {
  const names = new Set(['TableName', itemOrKey, ...expression]);
  const entries = Object.entries(types).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(entries), ReturnValuesOnConditionCheckFailure: returnValuesOnFailure };
}
