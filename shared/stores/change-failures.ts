import { type ErrorCode, ServiceError, type ServiceErrorOptions, serviceErrorOf } from '../contract/errors.ts';
import type { Int64 } from '../contract/int64.ts';
import { entityTag, MAX_QUANTITY } from '../contract/inventory.ts';
import { isUnavailable } from '../dynamodb.ts';
import type { StockChange, StockVersion } from './stock-store.ts';

/**
 * The failure of a change as its store throws it: UPDATE_OUTCOME_UNKNOWN, or an INTERNAL_ERROR that says that nothing
 * was changed; what refused the change, or made DynamoDB unavailable, as it is.
 *
 * @param unknown message and headers of UPDATE_OUTCOME_UNKNOWN; false if nothing was changed
 */
export function changeFailure(
  failure: unknown,
  unknown: false | Pick<ServiceErrorOptions, 'message' | 'headers'>,
): unknown {
  const { status, message, cause } = serviceErrorOf(failure);
  if (status < 500) return failure;
  if (unknown) return new ServiceError('UPDATE_OUTCOME_UNKNOWN', { ...unknown, cause });
  if (isUnavailable(failure)) return failure;
  return new ServiceError('INTERNAL_ERROR', { message: `${message} Nothing was changed.`, cause });
}

/** Why an update fails on the current entry; undefined if it would succeed. */
export function stockChangeError(found: StockVersion | undefined, change: StockChange): ServiceError | undefined {
  const { petId, ifQuantity } = change;
  if (!found) return petNotFound(petId);
  const { quantity } = found.entry;
  const headers = { ETag: entityTag(found.version) };
  const refuse = (code: ErrorCode, message: string) => new ServiceError(code, { message, headers });
  if (!isExpected(found, change))
    return refuse('PRECONDITION_FAILED', `The stock entry of pet ${petId} does not match If-Match.`);
  if (ifQuantity !== undefined && ifQuantity !== quantity)
    return refuse('PRECONDITION_FAILED', `Pet ${petId} has ${quantity} in stock, not ${ifQuantity} as in ifQuantity.`);
  if (!('by' in change)) return undefined;
  const sum = quantity + change.by;
  if (sum < 0)
    return refuse(
      'INSUFFICIENT_STOCK',
      `Pet ${petId} has ${quantity} in stock; the adjustment subtracts ${-change.by}.`,
    );
  if (sum <= MAX_QUANTITY) return undefined;
  const maximum = `Adding ${change.by} to the ${quantity} in stock of pet ${petId} exceeds the maximum of ${MAX_QUANTITY}.`;
  return refuse('INSUFFICIENT_STOCK', maximum);
}

/** Whether an entry has a version that a change expects. */
export const isExpected = ({ version }: StockVersion, { versions }: StockChange): boolean =>
  versions?.includes(version) ?? true;

export const petNotFound = (petId: Int64): ServiceError =>
  new ServiceError('PET_NOT_FOUND', { message: `There is no pet ${petId}.` });
