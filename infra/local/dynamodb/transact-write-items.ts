import { promisify } from 'node:util';
import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type ApiError, type BatchWrite, type OperationStore, type Store } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import put from 'dynalite/validations/putItem.js';
import update from 'dynalite/validations/updateItem.js';
import * as v from 'valibot';

const actionSchema = v.union([
  v.strictObject({ Put: v.looseObject({}) }),
  v.strictObject({ Update: v.looseObject({ UpdateExpression: v.string() }) }),
]);
const requestSchema = v.object({ TransactItems: v.pipe(v.array(actionSchema), v.minLength(1), v.maxLength(100)) });

/** Whether the API returns this error: dynalite has no class for them. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'statusCode' in error && 'body' in error;
}

/**
 * DynamoDB's operation TransactWriteItems, which dynalite does not have, on dynalite's store, whose lock is one for all
 * writes.
 *
 * @returns the body of the response, with the capacity that each write has consumed
 * @throws ApiError if nothing was written
 */
export async function transactWriteItems(store: Store, body: unknown): Promise<object> {
  const result = v.safeParse(requestSchema, body);
  if (!result.success) throw db.validationError('The local server supports transactions of 1 to 100 Puts and Updates');
  const release = await new Promise<() => void>((resolve) => {
    store.getItemDb('').lock('', (releaseAfter) => resolve(releaseAfter(() => undefined)));
  });
  return writeAll(result.output.TransactItems, store).finally(release);
}

async function writeAll(actions: readonly v.InferOutput<typeof actionSchema>[], store: Store): Promise<object> {
  const staged = stage(store);
  const ConsumedCapacity: object[] = [];
  const reasons: CancellationReason[] = [];
  for (const action of actions) {
    const [fields, { types, custom }, write] =
      'Put' in action ? [action.Put, put, putItem] : [action.Update, update, updateItem];
    const data = validations.checkTypes({ ...fields, ReturnConsumedCapacity: 'TOTAL' }, types);
    validations.checkValidations(data, types, custom, store);
    try {
      const { ConsumedCapacity: consumed } = await promisify(write)(staged.store, data);
      // Every item of a transaction is prepared and then committed: twice the units of its write.
      ConsumedCapacity.push({ TableName: data.TableName, CapacityUnits: 2 * consumed.CapacityUnits });
      reasons.push({ Code: 'None' });
    } catch (error) {
      reasons.push(cancellationReason(error));
    }
  }
  if (new Set(staged.keys).size < staged.keys.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item');
  }
  if (reasons.some(({ Code }) => Code !== 'None')) throw canceled(reasons);
  // One batch of LevelDB is atomic, even if the process is killed meanwhile.
  await store.db.batch(staged.writes);
  return { ConsumedCapacity };
}

/** The store for the operations of a transaction: they read stored items, and their writes are buffered. */
function stage(store: Store) {
  const keys: string[] = [];
  const writes: BatchWrite[] = [];
  const staged: OperationStore = {
    ...store,
    getItemDb: (table) => ({
      ...store.getItemDb(table),
      put: (key, value, done) => {
        // As dynalite's own keys.
        writes.push({ type: 'put', key: `item-${table}~${key}`, value });
        done(null);
      },
      lock: (key, run) => {
        keys.push(`${table}~${key}`);
        run((done) => done);
      },
    }),
  };
  return { keys, writes, store: staged };
}

/** @throws an error of the engine itself */
function cancellationReason(error: unknown): CancellationReason {
  if (!isApiError(error)) throw error;
  const { __type, message: Message = '', Item } = error.body;
  if (__type.endsWith('#ConditionalCheckFailedException')) {
    return { Code: 'ConditionalCheckFailed', Message, ...(Item && { Item }) };
  }
  if (__type.endsWith('#ValidationException')) return { Code: 'ValidationError', Message };
  throw error;
}

function canceled(CancellationReasons: readonly CancellationReason[]): ApiError {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  // cspell:ignore cancelled -- DynamoDB's own message
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return Object.assign(new Error(message), {
    statusCode: 400,
    body: { __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException', message, CancellationReasons },
  });
}
