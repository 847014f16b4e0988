/** What a service does is not what it promises. The message says what was expected and what was seen. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

/** @throws Mismatch where the two differ */
export function expectSame(what: string, seen: unknown, expected: unknown): void {
  if (seen !== expected) throw new Mismatch(`${what} is ${shown(seen)}, not ${shown(expected)}`);
}

/** @throws Mismatch where the condition does not hold */
export function expectThat(condition: boolean, fault: string): asserts condition {
  if (!condition) throw new Mismatch(fault);
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 120) ?? 'missing';
