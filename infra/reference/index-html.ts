import { contentSecurityPolicy } from './content-security-policy.ts';

export interface IndexHtmlOptions {
  /** Folder of the page's assets. */
  readonly assets: string;
  /** Base address of the service. It may be a token of the CDK. */
  readonly serverUrl: string;
  readonly title: string;
  readonly description: string;
  /** A key that is filled in for the reader. */
  readonly demoKey?: string | undefined;
}

/** The page itself. All that is in it comes from its own origin; the API alone may be elsewhere. */
export function indexHtml({ assets, serverUrl, title, description, demoKey }: IndexHtmlOptions): string {
  // The slash lets the page call what is below the address, and nothing else on that host (CSP Level 3 §6.7.2.7).
  const policy = contentSecurityPolicy({ connect: [`${serverUrl}/`], framing: false });
  const settings = JSON.stringify({ ...(demoKey !== undefined && { demoKey }) }).replaceAll('<', String.raw`\u003c`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="description" content="${escapeHtml(description)}" />
    <meta name="color-scheme" content="light dark" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="/${assets}/favicon.svg" type="image/svg+xml" />
    <link rel="modulepreload" href="/${assets}/scalar/standalone.esm.js" />
    <link rel="stylesheet" href="/${assets}/reference.css" />
    <script type="application/json" id="settings">${settings}</script>
    <script type="module" src="/${assets}/reference.js"></script>
  </head>
  <body>
    <div id="reference"></div>
    <noscript>
      This reference needs JavaScript. Without it, read the <a href="/openapi.json">OpenAPI document</a>.
      It is shown by Scalar, under <a href="/scalar-license.txt">its licence</a>.
    </noscript>
  </body>
</html>
`;
}

/** Text as it may stand in an element, or in an attribute between double quotes. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
