import type { Tamper } from '../model/virtual-dynamodb.ts';
import { type Input, partsOf } from '../model/virtual-tables.ts';

/**
 * Faults that a limiter, or updates, could have, put into what they send to DynamoDB. The tests of the models show that
 * each is found: a model that finds nothing could be one that sees nothing.
 */
export const brokenLimiters: Readonly<Record<string, Tamper>> = {
  'the minute has always room': always(/minuteUsed <=? :?\w+/),
  'the day has always room': always(/dayUsed <=? :?\w+/),
  'a revoked key is good': always(/revoked = :false/),
  'a disabled key is good': always(/enabled = :true/),
  'a suspended key is good': always(/suspendedUntil <= :now/),
  'an expired key is good': always(/expiresAt > :now/),
  'a rotated key counts by itself': always(/attribute_not_exists\(replacedBy\)/),
  'a lease takes one request too few': withValues((values) => {
    const taken = numberIn(values[':ofMinute']);
    return taken > 1 ? { ...values, ':ofMinute': { N: String(taken - 1) } } : values;
  }),
  'a request is counted twice': withValues((values) =>
    numberIn(values[':ofMinute']) === 1 ? { ...values, ':ofMinute': { N: '2' } } : values,
  ),
  'a refusal counts twice': times(':refused', 2),
  'a refusal is not counted': times(':refused', 0),
};

export const brokenUpdates: Readonly<Record<string, Tamper>> = {
  'If-Match is not looked at': always(/version IN \([^)]*\)/),
  'the record of a request is not looked at': always(/attribute_not_exists\(requestId\)/),
  'an update creates a pet': always(/attribute_exists\(petId\)/),
  'the status is not looked at': always(/#status = :status/),
  'the update is left out': inEveryPart((part) =>
    part['UpdateExpression'] === undefined
      ? part
      : { ...part, UpdateExpression: 'SET touched = :quantity, marked = :version' },
  ),
  'the quantity is another one': times(':quantity', 2),
};

/** Makes a part of every condition true, whatever the item. */
function always(part: RegExp): Tamper {
  return inEveryPart((input) => {
    const { ConditionExpression: condition } = input;
    if (typeof condition !== 'string') return input;
    const holds = condition.replaceAll(new RegExp(part, 'g'), '($& OR attribute_not_exists(nothing))');
    return { ...input, ConditionExpression: holds };
  });
}

/** Changes values of every expression. */
function withValues(change: (values: Input) => Input): Tamper {
  return inEveryPart((input) => {
    const values = input['ExpressionAttributeValues'];
    return values === undefined ? input : { ...input, ExpressionAttributeValues: change(partsOf(values)) };
  });
}

/** Multiplies a number in every expression that has it. */
function times(name: string, factor: number): Tamper {
  return withValues((values) =>
    name in values ? { ...values, [name]: { N: String(factor * numberIn(values[name])) } } : values,
  );
}

function inEveryPart(change: (part: Input) => Input): Tamper {
  return (_, input) => {
    const { TransactItems: items } = input;
    if (!Array.isArray(items)) return change(input);
    const changed = items.map((item: unknown) =>
      Object.fromEntries(Object.entries(partsOf(item)).map(([kind, part]) => [kind, change(partsOf(part))])),
    );
    return { ...input, TransactItems: changed };
  };
}

const numberIn = (value: unknown): number => Number(partsOf(value)['N']);
