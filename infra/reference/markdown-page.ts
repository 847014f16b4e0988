import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/** Sets each heading's text as its anchor, with hyphens for spaces. */
const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${text.replaceAll(' ', '-')}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

/** On GitHub anchors are in lower case. The anchor of an error is its code, as `Link` headers have it. */
const withOwnAnchors = (markdown: string): string =>
  markdown.replaceAll(/\(#(\w+)\)/g, (_, anchor: string) => `(#${anchor.toUpperCase()})`);

/** A page in the look of the reference, without JavaScript. @param source our Markdown, by its path from `docs` */
export function markdownPage(title: string, source: string): string {
  const content = marked.parse(withOwnAnchors(read(join('../../docs', source))), { async: false });
  return read('markdown-page.html')
    .replace('%TITLE%', () => title)
    .replace('%CONTENT%', () => content);
}
