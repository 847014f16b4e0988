import { describe, expect, test } from '@jest/globals';
import { contentSecurityPolicy } from '../../../infra/reference/content-security-policy.ts';

const directives = (policy: string): Record<string, string> =>
  Object.fromEntries(policy.split('; ').map((directive) => directive.split(/ (.*)/, 2)));

describe('the content security policy', () => {
  test('lets the page load its own files, and nothing else', () => {
    expect(directives(contentSecurityPolicy())).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
  });

  test('lets it call the service', () => {
    const policy = contentSecurityPolicy({ connect: ['https://api.example.com/v1/'] });

    expect(directives(policy)).toMatchObject({ 'connect-src': "'self' https://api.example.com/v1/" });
  });

  test('in the page itself does without what works in a header only', () => {
    expect(directives(contentSecurityPolicy({ framing: false }))).not.toHaveProperty('frame-ancestors');
  });
});
