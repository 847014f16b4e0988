import { type Input, partsOf, type Tamper } from '../model/virtual-tables.ts';

/**
 * Faults that a limiter, or updates, could have, put into what they send to DynamoDB. The tests of the models show that
 * each is found: a model that finds nothing could be one that sees nothing.
 */
export const brokenLimiters: Readonly<Record<string, Tamper>> = {
  // The conditions of the counter store, taken out one at a time.
  'a disabled key is good': without('enabled = :true'),
  'a revoked key is good': without('revoked = :false'),
  'a suspended key is good': without('suspendedUntil <= :now'),
  'an expired key is good': without('expiresAt > :now'),
  'any token is good': without('tokens.#token.#until > :now'),
  'a request is counted in another minute': without('currentMinute = :minute'),
  'a minute is begun twice': without('currentMinute < :minute'),
  'a day is begun twice': without('currentMinute < :day'),
  'the minute has always room': without('minuteUsed < perMinute'),
  'the day has always room': without('dayUsed < perDay'),
  'a new minute is refused with room': without('dayUsed >= perDay', /minuteUsed = :zero/),
  'a request is refused with room': without('(minuteUsed >= perMinute OR dayUsed >= perDay)'),
  'a key that is not refused often is suspended': without('minuteRefused >= perMinute'),
  'a request is counted twice': times(':one', 2),
  'a refusal counts twice': times(':refused', 2),
  'a refusal is not counted': times(':refused', 0),
};

export const brokenUpdates: Readonly<Record<string, Tamper>> = {
  'If-Match is not looked at': always(/\(version IN \([^)]*\)(?: OR attribute_not_exists\(version\))?\)/),
  'the record of a request is not looked at': always(/attribute_not_exists\(requestId\)/),
  'an update creates a pet': always(/attribute_exists\(petId\)/),
  'the status is not looked at': always(/#status = :status/),
  'the update is left out': inEveryPart((part) =>
    part['UpdateExpression'] === undefined
      ? part
      : { ...part, UpdateExpression: 'SET #quantity = if_not_exists(#quantity, :quantity), marked = :version' },
  ),
  'the quantity is another one': times(':quantity', 2),
};

/** Makes a part of conditions true, whatever the item. @param inUpdate only of updates with this */
function always(part: RegExp, inUpdate = /./): Tamper {
  return inEveryPart((input) => {
    const { ConditionExpression: condition, UpdateExpression: update = ' ' } = input;
    if (typeof condition !== 'string' || !inUpdate.test(String(update))) return input;
    // It stays as well: DynamoDB refuses an expression that leaves a value out.
    const holds = condition.replaceAll(new RegExp(part, 'g'), '($& OR attribute_not_exists(nothing))');
    return { ...input, ConditionExpression: holds };
  });
}

function without(condition: string, inUpdate?: RegExp): Tamper {
  return always(new RegExp(RegExp.escape(condition)), inUpdate);
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
