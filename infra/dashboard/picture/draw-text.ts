import { marked, type Token } from 'marked';
import { type Box, PADDING } from './box.ts';
import { colors, textLine, wrap } from './svg.ts';

const headingSizes = [24, 20, 17];
const TEXT_SIZE = 13;
const LINE_HEIGHT = 1.45;

/** Draws Markdown: headings, paragraphs and lists, as plain text. */
export function drawText(markdown: string, { width }: Box): string {
  const lines: string[] = [];
  let y = 0;
  for (const token of marked.lexer(markdown)) {
    for (const { text, size, bold } of linesOf(token, width)) {
      y += size * LINE_HEIGHT;
      lines.push(textLine(PADDING, y, text, { size, bold, color: bold ? colors.text : colors.faint }));
    }
  }
  return lines.join('');
}

interface Line {
  readonly text: string;
  readonly size: number;
  readonly bold: boolean;
}

function linesOf(token: Token, width: number): Line[] {
  if (token.type === 'space') return [];
  const isHeading = token.type === 'heading' && 'depth' in token;
  const size = isHeading ? (headingSizes[Number(token.depth) - 1] ?? TEXT_SIZE) : TEXT_SIZE;
  const texts = token.type === 'list' && 'items' in token ? itemsOf(token) : [plainText(token)];
  return texts
    .flatMap((text) => wrap(width - 2 * PADDING, text, size))
    .map((text) => ({ text, size, bold: isHeading }));
}

function itemsOf(token: Token): string[] {
  const items: readonly Token[] = 'items' in token && Array.isArray(token.items) ? token.items : [];
  return items.map((item) => `• ${plainText(item)}`);
}

/** The text of Markdown without its marks. */
function plainText(token: Token): string {
  if ('tokens' in token && token.tokens) return token.tokens.map(plainText).join('');
  return 'text' in token ? String(token.text) : token.raw;
}
