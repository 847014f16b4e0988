import { createApiReference } from './scalar/standalone.esm.js';

/** The API reference in the page. Whatever would call another origin is off: fonts, proxy, telemetry, assistant. */

const DOCUMENT = 'reference';
const SCHEME = 'apiKey';

const { demoKey } = JSON.parse(document.getElementById('settings').textContent);

/** What the reader has entered; undefined before they have entered anything. */
let enteredKey = () => undefined;

/** Without a key, no header. Scalar would send an empty one, and the demo key although the reader has removed it. */
function leaveOutEmptyKey({ request }) {
  const key = enteredKey() ?? demoKey ?? '';
  if (key === '') request.headers.delete('Authorization');
}

createApiReference('#reference', {
  url: '/openapi.json',
  slug: DOCUMENT,
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
    preferredSecurityScheme: SCHEME,
    securitySchemes: { [SCHEME]: { token: demoKey ?? '' } },
  },
  plugins: [
    () => ({
      name: 'entered-key',
      extensions: [],
      hooks: {
        onInit({ auth }) {
          enteredKey = () => auth.getAuthSecrets(DOCUMENT, SCHEME)?.['x-scalar-secret-token'];
        },
      },
    }),
  ],
  onRequestBuilt: leaveOutEmptyKey,
});
