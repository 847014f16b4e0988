const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A number in as few characters as tell it: `1.2K`, `0.00012`. */
export function shortNumber(value: number): string {
  return compact.format(value);
}

/** `18:05`, and the day where the range is longer than one: UTC. */
export function clockTime(at: number, withDay = false): string {
  const text = new Date(at).toISOString();
  return withDay ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 16);
}
