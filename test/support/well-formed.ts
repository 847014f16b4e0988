/** A tag with attributes in quotation marks, or text; nothing else is used in the pictures. */
const PART = /<(?<close>\/)?(?<name>[\w:-]+)(?:\s+[\w:-]+="[^"<]*")*\s*(?<empty>\/)?>|<!\[CDATA\[[\s\S]*?\]\]>|[^<]+/y;

/** The names of all elements of an XML document, in their order. @throws Error where it is not well-formed */
export function elementsOf(xml: string): string[] {
  const pattern = new RegExp(PART);
  const open: string[] = [];
  const names: string[] = [];
  while (pattern.lastIndex < xml.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(xml);
    if (!match) throw new Error(`No XML at ${at}: ${xml.slice(at, at + 100)}`);
    const { name, close, empty } = match.groups ?? {};
    if (name === undefined) continue;
    if (close !== undefined) {
      if (open.pop() !== name) throw new Error(`The end of ${name} at ${at} is not expected`);
      continue;
    }
    names.push(name);
    if (empty === undefined) open.push(name);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} are not closed`);
  return names;
}

/** The texts of an SVG picture. */
export function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text.trim());
}
