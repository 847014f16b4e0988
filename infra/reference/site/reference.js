import { createApiReference } from './scalar/standalone.esm.js';

/** The API reference in the page. Whatever would call another origin is off: fonts, proxy, telemetry, assistant. */

// On a narrow screen the response is above the form: a reader who scrolled down to a body would not see it.
document.addEventListener('click', ({ target }) => {
  if (!target.closest('[data-addressbar-action="send"]')) return;
  document.querySelector('.scalar-client section[aria-label="Response"]')?.parentElement.scrollTo(0, 0);
});

const { demoKey } = JSON.parse(document.getElementById('settings').textContent);

createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  documentDownloadType: 'direct',
  modelsSectionLabel: 'Schemas',
  orderSchemaPropertiesBy: 'preserve',
  defaultOpenAllTags: true,
  authentication: {
    preferredSecurityScheme: 'apiKey',
    securitySchemes: { apiKey: { token: demoKey ?? '' } },
  },
});
