import { describe, expect, test } from '@jest/globals';
import { contentSecurityPolicy, policyHeader } from '../../../infra/reference/content-security-policy.ts';
import { pageFiles } from '../../../infra/reference/page-files.ts';
import { errorCatalog } from '../../../shared/contract/errors.ts';

const serverUrl = 'https://api.example.com/v1';
const files = pageFiles({ serverUrl, environment: 'staging' });
const textOf = (path: string, of = files): string => of.get(path)?.read().toString() ?? '';

describe('The files of the reference page', () => {
  test('are the pages, the document, and assets in a directory with the hash of their content', () => {
    const directory = /assets\/[0-9a-f]{16}\//.exec(textOf('index.html'))?.[0] ?? 'none';
    const changing = [...files].filter(([, { immutable }]) => !immutable).map(([path]) => path);
    const immutable = [...files.keys()].filter((path) => !changing.includes(path));
    expect(changing).toEqual([
      'index.html',
      'errors.html',
      'typescript-client.html',
      'openapi.json',
      'scalar-license.txt',
    ]);
    expect(immutable.filter((path) => !path.startsWith(directory) || path.endsWith('.map'))).toEqual([]);
    expect(textOf('scalar-license.txt')).toContain('MIT License\n\nCopyright (c) 2023-present Scalar\n\nPermission is');
  });

  test('include every file that the pages link to or their modules import', () => {
    const texts = ['index.html', 'errors.html', 'typescript-client.html', 'openapi.json'].map((path) => textOf(path));
    const references = [...texts.join('').matchAll(/(?:(?:href|src)="|\]\()\/([\w./-]+)/g)].map(
      ([, path]) => path ?? '',
    );
    const modules = [...files.keys()]
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) =>
        [...textOf(path).matchAll(/(?:from|import)[\s(]*["'`](\.[^"'`$]+)["'`]/g)].map(([, module = '']) =>
          new URL(module, `https://page.example/${path}`).pathname.slice(1),
        ),
      );
    expect(references.length).toBeGreaterThan(50);
    for (const path of [...references, ...modules]) expect(files.has(path)).toBe(true);
  });
});

test('The page of errors has a section for each code, and a link to it', () => {
  const html = textOf('errors.html');
  const placesOf = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, code]) => code);
  expect(placesOf(/<h2 id="(\w+)">\1</g)).toEqual(Object.keys(errorCatalog));
  expect(placesOf(/href="#(\w+)"/g)).toEqual(Object.keys(errorCatalog));
  expect(html).toContain('Bearer &lt;API_KEY&gt;');
  expect(html).not.toMatch(/%[A-Z]+%/);
});

const settingsIn = (html: string): unknown => JSON.parse(/id="settings">(.*?)<\/script>/s.exec(html)?.[1] ?? '');

describe('The page', () => {
  test('contains a key only if it is given a demo key', () => {
    const withKey = pageFiles({ serverUrl, environment: 'local', demoKey: 'psk_DemoKey' });
    expect(settingsIn(textOf('index.html'))).toEqual({});
    expect(textOf('openapi.json')).not.toContain('psk_Demo');
    expect(settingsIn(textOf('index.html', withKey))).toEqual({ demoKey: 'psk_DemoKey' });
    expect(textOf('openapi.json', withKey)).toContain(`Bearer psk_DemoKey' ${serverUrl}/inventory`);
  });

  test('escapes the address and the key in its markup', () => {
    const [address, demoKey] = ['"><script>alert("&")</script>', '</script><script>alert(1)</script>'];
    const html = textOf('index.html', pageFiles({ serverUrl: address, environment: 'local', demoKey }));
    expect(html).toContain('&quot;>&lt;script>alert(&quot;&amp;&quot;)&lt;/script>');
    expect(html).not.toContain('<script>alert');
    expect(settingsIn(html)).toEqual({ demoKey });
  });
});

test('The content security policy permits only own files and the service; the header forbids frames', () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
    `connect-src 'self' ${serverUrl}/; base-uri 'none'; form-action 'none'`;
  expect(contentSecurityPolicy(`${serverUrl}/`)).toBe(policy);
  expect(policyHeader(`${serverUrl}/`)).toBe(`${policy}; frame-ancestors 'none'`);
});
