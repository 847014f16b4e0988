import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item as DynamoDB's own API has it. */
export type Item = Record<string, AttributeValue>;

/** The parameters of a command, as DynamoDB's own API has them. */
export type Input = Record<string, unknown>;

/** The parts of an object of which nothing is known; none where it is no object. */
export const partsOf = (value: unknown): Input => (typeof value === 'object' && value !== null ? { ...value } : {});

/** What the SDK has made of an item. */
export function itemOf(value: unknown): Item {
  if (!isItem(value)) throw new Error(`${JSON.stringify(value)} is not an item`);
  return value;
}

const isItem = (value: unknown): value is Item =>
  Object.values(partsOf(value)).every((attribute) => Object.keys(partsOf(attribute)).length === 1);
