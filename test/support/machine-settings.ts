import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

const configFile = join(temporaryDirectory(), 'config');
writeFileSync(
  configFile,
  '[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = true\nregion = none\nmax_attempts = 0\n',
);
/** A port where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9';

/** Settings of a machine, each of which keeps an AWS client or `fetch` from a local server. */
export const machineSettings: Readonly<Record<string, string>> = {
  AWS_CONFIG_FILE: configFile,
  AWS_PROFILE: 'none',
  AWS_REGION: 'none',
  AWS_ENDPOINT_URL: NOWHERE,
  AWS_USE_FIPS_ENDPOINT: 'true',
  AWS_USE_DUALSTACK_ENDPOINT: 'true',
  AWS_ACCOUNT_ID_ENDPOINT_MODE: 'required',
  AWS_AUTH_SCHEME_PREFERENCE: 'none',
  AWS_DEFAULTS_MODE: 'none',
  AWS_RETRY_MODE: 'none',
  AWS_MAX_ATTEMPTS: 'none',
  AWS_SDK_UA_APP_ID: 'n'.repeat(60),
  HTTP_PROXY: NOWHERE,
  http_proxy: NOWHERE,
  NODE_USE_ENV_PROXY: '1',
};
