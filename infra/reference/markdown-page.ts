import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/** Gives each heading its text as the anchor, with hyphens for spaces. */
const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${text.replaceAll(' ', '-')}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

const template = (): string => readFileSync(join(import.meta.dirname, 'markdown-page.html'), 'utf8');

/** A page for readers without JavaScript too, in the look of the reference. @param markdown text of our own, as it stands */
export function markdownPage(title: string, markdown: string): string {
  const content = marked.parse(markdown, { async: false });
  return template()
    .replace('%TITLE%', () => title)
    .replace('%CONTENT%', () => content);
}
