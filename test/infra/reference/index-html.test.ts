import { describe, expect, test } from '@jest/globals';
import { indexHtml } from '../../../infra/reference/index-html.ts';

const page = { assets: 'assets/1', serverUrl: 'https://api.example.com/v1', title: 'Title', description: 'Words' };

describe('the page', () => {
  test('says what it is, in which language, and fits a phone', () => {
    const html = indexHtml(page);

    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain('<title>Title</title>');
    expect(html).toContain('<meta name="description" content="Words" />');
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />');
  });

  test('tells its readers where to go without JavaScript', () => {
    expect(indexHtml(page)).toMatch(/<noscript>[^]*href="\/openapi\.json"[^]*<\/noscript>/);
  });

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
