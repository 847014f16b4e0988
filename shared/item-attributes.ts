import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { ServiceError } from './contract/errors.ts';
import { int64Schema } from './contract/int64.ts';

/**
 * Numbers stay wrapped as DynamoDB's decimal text, so an int64 keeps its digits in both directions.
 * Pass a copy: the SDK adds its own options to the object.
 */
export const exactNumbers = Object.freeze({ wrapNumbers: true });

export type Item = Readonly<Record<string, unknown>>;

/** The attributes of an item that the document client does not convert, such as that of a failed condition. */
export const itemFrom = (attributes: Parameters<typeof unmarshall>[0]): Item =>
  unmarshall(attributes, { ...exactNumbers });

/** How long usage, histories, and the record of a revoked key, which finds both, are kept, in milliseconds. */
export const RETENTION_MS = 400 * 86_400_000;

/** When DynamoDB deletes an item of a time: Unix seconds, from Unix milliseconds. */
export const timeToLive = (epochMs: number): number => Math.floor((epochMs + RETENTION_MS) / 1_000);

/** The decimal text of a number in an item. */
const decimalTextSchema = v.pipe(
  v.object({ value: v.string() }),
  v.transform(({ value }) => value),
);

/** An int64 in an item, as its digits. */
export const int64AttributeSchema = v.pipe(decimalTextSchema, int64Schema);

/** A number in an item that fits a JavaScript number. */
export const safeNumberSchema = v.pipe(decimalTextSchema, v.transform(Number), v.safeInteger());

/** Placeholders for the names (some are reserved words) and values of expressions, collected as they are used. */
export function expressionAttributes() {
  const ExpressionAttributeNames: Record<string, string> = {};
  const ExpressionAttributeValues: Record<string, unknown> = {};
  const name = (attribute: string): string => {
    ExpressionAttributeNames[`#${attribute}`] = attribute;
    return `#${attribute}`;
  };
  const value = (content: unknown): string => {
    const placeholder = `:value${Object.keys(ExpressionAttributeValues).length}`;
    ExpressionAttributeValues[placeholder] = content;
    return placeholder;
  };
  return { ExpressionAttributeNames, ExpressionAttributeValues, name, value };
}

/** The parsed item. @throws ServiceError INTERNAL_ERROR, whose cause names the item and its first fault */
export function parseItem<Content>(schema: v.GenericSchema<unknown, Content>, item: Item, idName: string): Content {
  const { success, output, issues } = v.safeParse(schema, item, { abortEarly: true });
  if (success) return output;
  const [fault] = issues;
  const reason = `${v.getDotPath(fault)} is ${fault.received.slice(0, 40)}: ${fault.message}`;
  const cause = new Error(`The item with ${idName} ${String(item[idName])} cannot be read: ${reason}`);
  throw new ServiceError('INTERNAL_ERROR', { cause });
}
