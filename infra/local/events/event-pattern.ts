import { HostError } from '../host-error.ts';

type Scalar = string | number | boolean | null;

/** An event pattern: for each member, the values that it may have, or the pattern of what is in it. */
export interface EventPattern {
  readonly [member: string]: readonly Scalar[] | EventPattern;
}

/**
 * Reads an event pattern of exact values. Every other matcher of EventBridge (prefix, anything-but, exists, $or, …) is
 * refused: it would match other events here than on AWS.
 *
 * @param place the resource it belongs to, for the error
 * @throws HostError
 */
export function parseEventPattern(pattern: unknown, place: string): EventPattern {
  if (!isObject(pattern)) throw unsupported(pattern, place);
  return Object.fromEntries(
    Object.entries(pattern).map(([member, value]) => {
      const memberPlace = `${place}.${member}`;
      if (!Array.isArray(value)) return [member, parseEventPattern(value, memberPlace)];
      const values: unknown[] = value;
      if (values.length === 0) throw unsupported(value, memberPlace);
      return [member, values.map((item) => scalarOf(item, memberPlace))];
    }),
  );
}

/** Whether an event has, at every member of the pattern, one of its values. */
export function matchesPattern(pattern: EventPattern, event: unknown): boolean {
  if (!isObject(event)) return false;
  return Object.entries(pattern).every(([member, expected]) => {
    const actual = Object.hasOwn(event, member) ? event[member] : undefined;
    if (!isList(expected)) return matchesPattern(expected, actual);
    // A list in the event matches with any of its values (EventBridge user guide, "arrays in event patterns").
    const values: unknown[] = Array.isArray(actual) ? actual : [actual];
    return values.some((value) => expected.some((item) => item === value));
  });
}

function scalarOf(value: unknown, place: string): Scalar {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  throw unsupported(value, place);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(expected: readonly Scalar[] | EventPattern): expected is readonly Scalar[] {
  return Array.isArray(expected);
}

function unsupported(value: unknown, place: string): HostError {
  return new HostError(
    `${place}: the local host matches lists of exact values only (got ${JSON.stringify(value) ?? 'nothing'})`,
  );
}
