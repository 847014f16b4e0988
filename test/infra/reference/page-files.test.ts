import { describe, expect, test } from '@jest/globals';
import { pageFiles } from '../../../infra/reference/page-files.ts';

const serverUrl = 'https://api.example.com/v1';
const files = pageFiles({ serverUrl, environment: 'staging' });
const textOf = (path: string, of = files): string => of.get(path)?.read().toString() ?? '';

describe('the files of the reference page', () => {
  test('are the page, the document that it shows, and assets in a folder that is named after their content', () => {
    const paths = [...files.keys()];
    const assets = paths.filter((path) => path.startsWith('assets/'));

    expect(paths.filter((path) => !path.startsWith('assets/'))).toEqual(['index.html', 'openapi.json']);
    expect(new Set(assets.map((path) => path.replace(/^(assets\/[0-9a-f]{16})\/.*$/, '$1'))).size).toBe(1);
    for (const [path, { immutable }] of files) expect(immutable).toBe(path.startsWith('assets/'));
  });

  test('are all that the page refers to', () => {
    const references = [...textOf('index.html').matchAll(/(?:href|src)="\/([^"]+)"/g)].map(([, path]) => path ?? '');

    expect(references).toHaveLength(5);
    for (const path of references) expect(files.has(path)).toBe(true);
  });

  test('are all that their modules load', () => {
    for (const path of files.keys()) {
      if (!path.endsWith('.js')) continue;
      for (const [, module = ''] of textOf(path).matchAll(/(?:from|import)[\s(]*["'`](\.[^"'`$]+)["'`]/g)) {
        expect(files.has(new URL(module, `https://page.example/${path}`).pathname.slice(1))).toBe(true);
      }
    }
  });

  test.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['openapi.json', 'application/json'],
    ['reference.js', 'text/javascript; charset=utf-8'],
    ['reference.css', 'text/css; charset=utf-8'],
    ['favicon.svg', 'image/svg+xml'],
    ['scalar/standalone.esm.js', 'text/javascript; charset=utf-8'],
  ])('say what they are: %s', (name, contentType) => {
    const [, file] = [...files].find(([path]) => path.endsWith(name)) ?? [];

    expect(file?.contentType).toBe(contentType);
  });

  test('are no source maps: a browser asks for them only when somebody looks into the code', () => {
    expect([...files.keys()].filter((path) => path.endsWith('.map'))).toEqual([]);
  });

  test('have the address of the service', () => {
    expect(JSON.parse(textOf('openapi.json'))).toMatchObject({ servers: [{ url: serverUrl }] });
    expect(textOf('index.html')).toContain(`connect-src 'self' ${serverUrl}/; `);
  });

  test('have a key only where one is meant for everybody', () => {
    const withKey = pageFiles({ serverUrl, environment: 'local', demoKey: 'psk_DemoKey' });

    expect(textOf('index.html')).toContain('id="settings">{}</script>');
    expect(textOf('openapi.json')).not.toContain('psk_Demo');
    expect(textOf('index.html', withKey)).toContain('id="settings">{"demoKey":"psk_DemoKey"}</script>');
    expect(textOf('openapi.json', withKey)).toContain('Bearer psk_DemoKey');
  });

  test('keep all digits of an int64', () => {
    expect(textOf('openapi.json')).toContain('9223372036854775807');
  });
});
