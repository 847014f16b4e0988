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

const authenticationWith = (token) => ({
  preferredSecurityScheme: SCHEME,
  securitySchemes: { [SCHEME]: { token } },
});

/** As numbers the bounds of an int64 would lose their last digits: in words they keep them. */
const INT64 = /"minimum":(-?\d+),"maximum":(\d{16,})(?:,"description":"([^"]*)")?/g;

async function fetchDocument(address, init) {
  const response = await fetch(address, init);
  if (!response.url.endsWith('/openapi.json')) return response;
  const text = await response.text();
  return new Response(
    text.replaceAll(
      INT64,
      (_, minimum, maximum, description = '') => `"description":"${minimum} to ${maximum}. ${description}"`,
    ),
    response,
  );
}

const configuration = {
  url: '/openapi.json',
  customFetch: fetchDocument,
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
  authentication: authenticationWith(demoKey ?? ''),
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
};
const reference = createApiReference('#reference', configuration);

let configuredKey = demoKey ?? '';

/** Scalar shows the key of its configuration again where the reader has removed it: so it goes there too. */
function forgetDemoKey() {
  if (configuredKey === '' || enteredKey() !== '') return;
  configuredKey = '';
  reference.updateConfiguration({ ...configuration, authentication: authenticationWith(configuredKey) });
}

for (const type of ['click', 'input']) {
  document.addEventListener(type, () => setTimeout(forgetDemoKey));
}
