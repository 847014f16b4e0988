/** Splits a list at its commas, but not within brackets: `count(*) as n, pct(latency, 99)`. */
export function splitList(list: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const character of list) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) {
      items.push(item.trim());
      item = '';
    } else {
      item += character;
    }
  }
  return [...items, item.trim()];
}
