import { partsOf, type Tamper } from '../model/virtual-table.ts';

/**
 * Faults that a limiter could have, put into what it sends to DynamoDB. The tests of the models show that each is
 * found: a model that finds nothing may be blind.
 */
export const brokenLimiters: Readonly<Record<string, Tamper>> = {
  // The conditions of the counter store, taken out one at a time.
  'a disabled key is admitted': without('enabled = :true'),
  'a revoked key is admitted': without('revoked = :false'),
  'a suspended key is admitted': without('suspendedUntil <= :now'),
  'an expired key is admitted': without('expiresAtMs > :now'),
  'any token is admitted': without('tokens.#token.#until > :now'),
  'a request is counted in another minute': without('currentMinute = :minute'),
  'a minute is begun twice': without('currentMinute < :minute'),
  'a day is begun twice': without('currentMinute < :day'),
  'the limit per minute is ignored': without('minuteUsed < perMinute'),
  'the limit per day is ignored': without('dayUsed < perDay'),
  'a request is refused with remaining quota': without('(minuteUsed >= perMinute OR dayUsed >= perDay)'),
  'a key with few refusals is suspended': without('minuteRefused >= perMinute'),
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
