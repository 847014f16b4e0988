import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { escapeHtml } from './escape-html.ts';

export interface RunbookHtmlOptions {
  /** Folder of the page's assets. */
  readonly assets: string;
  /** Name of the Markdown file in the folder of the runbooks. */
  readonly name: string;
  readonly markdown: string;
}

/** Where the runbooks are in the repository. */
export const RUNBOOK_FOLDER = 'docs/runbooks';

/** The name of the index, in the repository and on the site. */
const INDEX = { markdown: 'README.md', html: 'index.html' };

/** The name on the site of a Markdown file. */
export const htmlNameOf = (name: string): string =>
  name === INDEX.markdown ? INDEX.html : name.replace(/\.md$/, '.html');

/** A runbook as a page of its own: no script, and nothing from elsewhere. */
export function runbookHtml({ assets, name, markdown }: RunbookHtmlOptions): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`The runbook ${name} has no heading`);
  const isIndex = name === INDEX.markdown;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escapeHtml(contentSecurityPolicy({ framing: false }))}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>${escapeHtml(title)}${isIndex ? '' : ' (runbook)'}</title>
    <link rel="icon" href="/${assets}/favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/${assets}/runbook.css" />
  </head>
  <body>
    <nav>${isIndex ? '' : `<a href="${INDEX.html}">All runbooks</a>`}<a href="/">API reference</a></nav>
    <main>
${rendered(markdown)}    </main>
  </body>
</html>
`;
}

function rendered(markdown: string): string {
  const marked = new Marked({
    async: false,
    renderer: {
      link(token) {
        const text = this.parser.parseInline(token.tokens);
        return linked(token, text);
      },
      table(token) {
        const cells = (row: readonly Tokens.TableCell[]) => row.map((cell) => this.tablecell(cell)).join('');
        const rows = token.rows.map((row) => this.tablerow({ text: cells(row) })).join('');
        const head = this.tablerow({ text: cells(token.header) });
        // A table that is too wide for a phone scrolls, not the page.
        return `<div class="wide"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

/** A link to another runbook, or to the web. The rest of the repository is not on the site: it is named. */
function linked({ href }: Tokens.Link, text: string): string {
  if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>`;
  const [file = '', anchor] = href.split('#');
  if (file === '') return `<a href="${escapeHtml(href)}">${text}</a>`;
  if (!file.includes('/')) {
    return `<a href="${escapeHtml(htmlNameOf(file) + (anchor === undefined ? '' : `#${anchor}`))}">${text}</a>`;
  }
  return `${text} (<code>${escapeHtml(posix.join(RUNBOOK_FOLDER, file))}</code>)`;
}
