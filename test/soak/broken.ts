import { partsOf, type Tamper } from '../model/virtual-table.ts';

/**
 * Faults that a limiter could have, put into what it sends to DynamoDB. The tests of the models show that each is
 * found: a model that finds nothing could be one that sees nothing.
 */
export const brokenLimiters: Readonly<Record<string, Tamper>> = {
  // The conditions of the counter store, taken out one at a time.
  'a disabled key is good': without('enabled = :true'),
  'a revoked key is good': without('revoked = :false'),
  'a suspended key is good': without('suspendedUntil <= :now'),
  'an expired key is good': without('expiresAtMs > :now'),
  'any token is good': without('tokens.#token.#until > :now'),
  'a request is counted in another minute': without('currentMinute = :minute'),
  'a minute is begun twice': without('currentMinute < :minute'),
  'a day is begun twice': without('currentMinute < :day'),
  'the minute has always room': without('minuteUsed < perMinute'),
  'the day has always room': without('dayUsed < perDay'),
  'a request is refused with room': without('(minuteUsed >= perMinute OR dayUsed >= perDay)'),
  'a key that is not refused often is suspended': without('minuteRefused >= perMinute'),
  'a request is counted twice': times(':one', 2),
  'a refusal counts twice': times(':refused', 2),
  'a refusal is not counted': times(':refused', 0),
};

/** Makes a part of conditions true, whatever the item. */
function without(part: string): Tamper {
  return (input) => {
    const { ConditionExpression: condition } = input;
    if (typeof condition !== 'string') return input;
    // It stays as well: DynamoDB refuses an expression that leaves a value out.
    return { ...input, ConditionExpression: condition.replaceAll(part, `(${part} OR attribute_not_exists(nothing))`) };
  };
}

/** Multiplies a number in every expression that has it. */
function times(name: string, factor: number): Tamper {
  return (input) => {
    const values = partsOf(input['ExpressionAttributeValues']);
    if (!(name in values)) return input;
    const product = { N: String(factor * Number(partsOf(values[name])['N'])) };
    return { ...input, ExpressionAttributeValues: { ...values, [name]: product } };
  };
}
