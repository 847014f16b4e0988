import validations from 'dynalite/validations/index.js';
import { type Input, partsOf } from './attributes.ts';

interface Understood {
  /** What dynalite makes of the expressions, with the first values that were seen. */
  readonly parsed: Input;
  /** The placeholder that each of those values stands for. */
  readonly placeholders: ReadonlyMap<unknown, string>;
}

const understood = new Map<string, Understood>();

/** The input of a command with what its expressions mean. Each is parsed once: that takes longer than all the rest. */
export function understand(input: Input): Input {
  const values = partsOf(input['ExpressionAttributeValues']);
  const types = Object.entries(values).map(([name, value]) => name + Object.keys(partsOf(value)).join());
  const { UpdateExpression, ConditionExpression, ProjectionExpression, ExpressionAttributeNames } = input;
  const text = JSON.stringify([
    UpdateExpression,
    ConditionExpression,
    ProjectionExpression,
    ExpressionAttributeNames,
    types,
  ]);
  let found = understood.get(text);
  if (!found) {
    found = parse(input, values);
    understood.set(text, found);
  }
  return { ...input, ...withValues(found, values) };
}

function parse(input: Input, values: Input): Understood {
  const data: Input = { ...input };
  const message = validations.validateExpressions(data);
  if (message !== undefined) throw new Error(message);
  const placeholders = new Map(Object.entries(values).map(([name, value]): [unknown, string] => [value, name]));
  const parsed = Object.fromEntries(Object.entries(data).filter(([name]) => name.startsWith('_')));
  // Actions change what they are given, but not the values of the first command.
  return { parsed: partsOf(copy(parsed, (value) => (placeholders.has(value) ? value : undefined))), placeholders };
}

const withValues = ({ parsed, placeholders }: Understood, values: Input): Input =>
  partsOf(
    copy(parsed, (value) => {
      const name = placeholders.get(value);
      return name === undefined ? undefined : copy(values[name], () => undefined);
    }),
  );

/** A deep copy, in which some objects are replaced. */
function copy(value: unknown, replacement: (value: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const replaced = replacement(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((element: unknown) => copy(element, replacement));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part, replacement)]));
}
