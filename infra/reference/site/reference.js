import { createApiReference } from './scalar/standalone.esm.js';

/** The API reference in the page. Whatever would call another origin is off: fonts, proxy, telemetry, assistant. */

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
