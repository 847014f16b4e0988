/** Strings of a JSON text, with the colon where they are names of fields; the begin and the end of objects. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * The first field name that an object in a JSON text has twice; undefined where there is none. `JSON.parse` takes the
 * last of them without a word.
 *
 * @param json valid JSON
 */
export function duplicateField(json: string): string | undefined {
  const objects: Set<unknown>[] = [];
  for (const [token, text, colon] of json.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    if (token === '}') objects.pop();
    if (text === undefined || colon === undefined) continue;
    const name = String(JSON.parse(text));
    const names = objects.at(-1);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return undefined;
}
