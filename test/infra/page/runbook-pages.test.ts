import { describe, expect, test } from '@jest/globals';
import { runbookHtml } from '../../../infra/page/runbook-html.ts';
import { pageFiles } from '../../../infra/page/page-files.ts';

const files = pageFiles({ serverUrl: 'https://api.example.com/v1', environment: 'staging' });
const runbooks = [...files].filter(([path]) => path.startsWith('runbooks/'));
const html = (markdown: string, name = 'api-errors.md'): string =>
  runbookHtml({ assets: 'assets/1', name, markdown: `# Title\n\n${markdown}` });

describe('the runbooks on the site of the reference', () => {
  test.each(runbooks.map(([path, file]) => [path, file] as const))(
    '%s is a page without scripts, whose links lead to what is there',
    (path, file) => {
      const text = file.read().toString();
      const links = [...text.matchAll(/(?:href|src)="([^"#]+)/g)].map(([, link = '']) => link);
      const own = links.filter((link) => !link.startsWith('https://'));

      expect(file).toMatchObject({ contentType: 'text/html; charset=utf-8', immutable: false });
      expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(text).toContain("default-src 'none'; ");
      expect(text).not.toMatch(/<script|<style| on[a-z]+=/);
      expect(own.length).toBeGreaterThan(2);
      for (const link of own) {
        const target = new URL(link, `https://docs.example.com/${path}`).pathname.slice(1);
        expect(files.has(target === '' ? 'index.html' : target)).toBe(true);
      }
    },
  );

  test('are one page for each, and an index that leads to them', () => {
    const index = files.get('runbooks/index.html')?.read().toString() ?? '';
    const named = [...index.matchAll(/href="([a-z-]+\.html)"/g)].map(([, name]) => `runbooks/${name}`);

    expect(new Set(['runbooks/index.html', ...named])).toEqual(new Set(runbooks.map(([path]) => path)));
  });

  test('have a title of their own and lead back', () => {
    expect(html('Text.')).toContain('<title>Title (runbook)</title>');
    expect(html('Text.')).toContain('<a href="index.html">All runbooks</a><a href="/">API reference</a>');
    expect(html('Text.', 'README.md')).toContain('<title>Title</title>');
    expect(html('Text.', 'README.md')).not.toContain('All runbooks');
  });

  test.each([
    ['another runbook', '[one](sync-failed.md)', '<a href="sync-failed.html">one</a>'],
    ['a part of one', '[one](sync-failed.md#what-to-do)', '<a href="sync-failed.html#what-to-do">one</a>'],
    ['the index', '[all](README.md)', '<a href="index.html">all</a>'],
    ['the web', '[AWS](https://example.com/?a&b)', '<a href="https://example.com/?a&amp;b" rel="noreferrer">AWS</a>'],
    ['a page that is not on the site', '[keys](../keys.md#tags)', 'keys (<code>docs/keys.md</code>)'],
  ])('turn a link to %s into what works there', (_, markdown, expected) => {
    expect(html(markdown)).toContain(`<p>${expected}</p>`);
  });

  test('need a title', () => {
    expect(() => runbookHtml({ assets: 'assets/1', name: 'a.md', markdown: 'Text.' })).toThrow(
      'The runbook a.md has no heading',
    );
  });
});
