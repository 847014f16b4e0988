import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { contentSecurityPolicy } from '../../../infra/reference/content-security-policy.ts';
import { indexHtml } from '../../../infra/reference/index-html.ts';
import { pageFiles } from '../../../infra/reference/page-files.ts';

const serverUrl = 'https://api.example.com/v1';
const files = pageFiles({ serverUrl, environment: 'staging' });
const textOf = (path: string, of = files): string => of.get(path)?.read().toString() ?? '';

describe('the files of the reference page', () => {
  test('are the page, the document that it shows, and assets in a folder that is named after their content', () => {
    const paths = [...files.keys()];
    const assets = paths.filter((path) => path.startsWith('assets/'));

    expect(paths.filter((path) => !path.startsWith('assets/'))).toEqual([
      'index.html',
      'openapi.json',
      'scalar-license.txt',
    ]);
    expect(new Set(assets.map((path) => path.replace(/^(assets\/[0-9a-f]{16})\/.*$/, '$1'))).size).toBe(1);
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
    for (const [path, { immutable }] of files) expect(immutable).toBe(path.startsWith('assets/'));
  });

  test('are all that the page refers to, and all that their modules load', () => {
    const references = [...textOf('index.html').matchAll(/(?:href|src)="\/([^"]+)"/g)].map(([, path]) => path ?? '');
    const modules = [...files.keys()]
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) =>
        [...textOf(path).matchAll(/(?:from|import)[\s(]*["'`](\.[^"'`$]+)["'`]/g)].map(([, module = '']) =>
          new URL(module, `https://page.example/${path}`).pathname.slice(1),
        ),
      );

    expect(references).toHaveLength(6);
    for (const path of [...references, ...modules]) expect(files.has(path)).toBe(true);
  });

  test('have the licence of Scalar beside it, and name the packages in it that no lock file has', () => {
    const license = textOf('scalar-license.txt');

    expect(license).toMatch(/^This page is shown by Scalar API Reference \d+\.\d+\.\d+ \(https:/);
    expect(license).toContain('MIT License\n\nCopyright (c) 2023-present Scalar\n\nPermission is hereby granted');
    expect(license).toMatch(/^@vue\/runtime-dom 3\.\d+\.\d+$/m);
    expect(license).not.toMatch(/pnpm|Pet Store/);
  });

  test('have a key only where one is meant for everybody', () => {
    const withKey = pageFiles({ serverUrl, environment: 'local', demoKey: 'psk_DemoKey' });

    expect(textOf('index.html')).toContain('id="settings">{}</script>');
    expect(textOf('openapi.json')).not.toContain('psk_Demo');
    expect(textOf('index.html', withKey)).toContain('id="settings">{"demoKey":"psk_DemoKey"}</script>');
    expect(textOf('openapi.json', withKey)).toContain('Bearer psk_DemoKey');
  });

  test('leave every optional parameter out of a request until the reader ticks it, and all digits where they are', () => {
    const parameter = v.looseObject({ required: v.optional(v.boolean(), false), examples: v.optional(v.unknown()) });
    const schema = v.object({ components: v.object({ parameters: v.record(v.string(), parameter) }) });
    const { PetId, Cursor, Limit, ...others } = v.parse(schema, JSON.parse(textOf('openapi.json'))).components
      .parameters;

    expect(PetId).toMatchObject({ required: true, example: 101 });
    expect(Limit).toMatchObject({ examples: { example: { value: 100, 'x-disabled': true } } });
    expect(Cursor).toMatchObject({ examples: { example: { 'x-disabled': true } } });
    for (const one of [Limit, ...Object.values(others)]) expect(one).not.toHaveProperty('example');
    expect(textOf('openapi.json')).toContain('9223372036854775807');
  });
});

describe('the page', () => {
  const page = { assets: 'assets/1', serverUrl, title: 'Title', description: 'Words' };

  test('has no script in place but its settings, which are none', () => {
    const scripts = [...indexHtml(page).matchAll(/<script ([^>]*)>/g)].map(([, attributes]) => attributes);

    expect(scripts).toEqual(['type="application/json" id="settings"', 'type="module" src="/assets/1/reference.js"']);
  });

  test.each(['title', 'description', 'serverUrl'] as const)(
    'lets nothing out of its place in the markup: %s',
    (name) => {
      const html = indexHtml({ ...page, [name]: '"><script>alert("&")</script>' });

      expect(html).toContain('&quot;&gt;&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;');
      expect(html).not.toContain('<script>alert');
    },
  );

  test('lets no key end its settings', () => {
    const html = indexHtml({ ...page, demoKey: '</script><script>alert(1)</script>' });

    expect(html).not.toContain('<script>alert');
    expect(JSON.parse(/id="settings">(.*)<\/script>/.exec(html)?.[1] ?? '')).toEqual({
      demoKey: '</script><script>alert(1)</script>',
    });
  });
});

describe('the content security policy', () => {
  const rest =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'";

  test.each([
    ['for itself: its own files, in no frame', {}, "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"],
    [
      'in the page itself: without what works in a header only, and with the service',
      { framing: false, connect: [`${serverUrl}/`] },
      ` ${serverUrl}/; base-uri 'none'; form-action 'none'`,
    ],
  ])('lets the page load, %s', (_, options, end) => {
    expect(contentSecurityPolicy(options)).toBe(`${rest}${end}`);
  });
});
