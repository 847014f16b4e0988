/** An attribute's value; `undefined` leaves it out. */
type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An SVG element as text. Its children are SVG too: text goes through {@link escaped}. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([attribute, value]) => ` ${attribute}="${escaped(String(value))}"`)
    .join('');
  return children.length === 0 ? `<${name}${list}/>` : `<${name}${list}>${children.join('')}</${name}>`;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export const FONT = 'Helvetica, Arial, sans-serif';

export const colors = {
  text: '#16191f',
  faint: '#687078',
  line: '#d5dbdb',
  page: '#f2f3f3',
  card: '#ffffff',
  good: '#1d8102',
  bad: '#d13212',
} as const;

export interface TextStyle {
  /** Pixels. */
  readonly size?: number;
  readonly bold?: boolean;
  readonly color?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

/** A line of text; `y` is its base line. */
export function textLine(x: number, y: number, text: string, style: TextStyle = {}): string {
  const { size = 13, bold = false, color = colors.text, anchor } = style;
  const attributes = { x, y, fill: color, 'font-size': size, 'text-anchor': anchor };
  return element('text', { ...attributes, 'font-weight': bold ? 'bold' : undefined }, escaped(text));
}

/** What a character takes of the font's size, on average and rather too much. */
const CHARACTER_WIDTH = 0.58;
const CAPITAL_WIDTH = 0.72;

/** About how wide a text is, in pixels. */
export function widthOf(text: string, size: number): number {
  const capitals = text.replaceAll(/[^A-Z_]/g, '').length;
  return size * (capitals * CAPITAL_WIDTH + (text.length - capitals) * CHARACTER_WIDTH);
}

/** A text that fits a width, cut off with an ellipsis. */
export function cutTo(width: number, text: string, size: number): string {
  if (widthOf(text, size) <= width) return text;
  let end = text.length - 1;
  while (end > 1 && widthOf(text.slice(0, end + 1), size) > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** Breaks a text into lines that fit a width. */
export function wrap(width: number, text: string, size: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
