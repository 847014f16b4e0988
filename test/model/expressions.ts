import validations from 'dynalite/validations/index.js';

type Input = Record<string, unknown>;

interface Understood {
  /** What dynalite makes of the expressions, with the first values that were seen. */
  readonly parsed: Input;
  /** The placeholder that each of those values stands for. */
  readonly placeholders: ReadonlyMap<unknown, string>;
}

const EXPRESSIONS = ['UpdateExpression', 'ConditionExpression', 'ProjectionExpression'];
const PARSED = ['_updates', '_condition', '_projection'];

const known = new Map<string, Understood>();

/** The input of a command with what its expressions mean. Each is parsed once: that takes longer than all the rest. */
export function understand(input: Input): Input {
  const values = { ...(input['ExpressionAttributeValues'] as Input | undefined) };
  const types = Object.entries(values).map(([name, value]) => name + Object.keys(value as Input).join());
  const names = JSON.stringify(input['ExpressionAttributeNames'] ?? null);
  const text = [...EXPRESSIONS.map((expression) => String(input[expression])), names, ...types].join('\n');
  let understood = known.get(text);
  if (!understood) {
    const parsed: Input = { ...input };
    const message = validations.validateExpressions(parsed);
    if (message !== undefined) throw new Error(message);
    const placeholders = new Map(Object.entries(values).map(([name, value]): [unknown, string] => [value, name]));
    understood = { parsed: structuredCopy(parsed, placeholders), placeholders };
    known.set(text, understood);
  }
  return { ...input, ...withValues(understood, values) };
}

/** A copy that nothing changes any more: actions change what they are given. */
function structuredCopy(parsed: Input, placeholders: ReadonlyMap<unknown, string>): Input {
  const kept = Object.fromEntries(PARSED.filter((name) => name in parsed).map((name) => [name, parsed[name]]));
  return copy(kept, (value) => (placeholders.has(value) ? value : undefined)) as Input;
}

function withValues({ parsed, placeholders }: Understood, values: Input): Input {
  return copy(parsed, (value) => {
    const name = placeholders.get(value);
    return name === undefined ? undefined : copy(values[name], () => undefined);
  }) as Input;
}

/** A deep copy, in which some objects are replaced. */
function copy(value: unknown, replacement: (value: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const replaced = replacement(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((element) => copy(element, replacement));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part, replacement)]));
}
