import db from 'dynalite/db/index.js';
import deleteItem from 'dynalite/validations/deleteItem.js';
import putItem from 'dynalite/validations/putItem.js';
import updateItem from 'dynalite/validations/updateItem.js';
import { isApiError } from './api-error.ts';

/** The type of the field that asks for the old item, as dynalite declares its fields. */
export const returnValuesOnFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] };

/**
 * Makes dynalite bring the item with a condition that failed, where the request asks for it. dynalite's operations
 * find what is replaced here in its modules at every call.
 */
export function bringOldItems(): void {
  for (const { types } of [putItem, updateItem, deleteItem]) {
    types['ReturnValuesOnConditionCheckFailure'] = returnValuesOnFailure;
  }
  const { checkConditional } = db;
  db.checkConditional = (data, existing) => {
    const failure = checkConditional(data, existing);
    if (existing && data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && isApiError(failure)) {
      failure.body.Item = existing;
    }
    return failure;
  };
}
