/**
 * Whether a value matches a pattern of a policy, in which `*` stands for any text. Each part between two `*` is
 * searched once, at its first place, so the time is linear.
 */
export function matchesPattern(pattern: string, value: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return pattern === value;
  let at = value.startsWith(start) ? start.length : Infinity;
  for (const part of parts) {
    const found = value.indexOf(part, at);
    at = found < 0 ? Infinity : found + part.length;
  }
  return value.endsWith(end) && at + end.length <= value.length;
}
