import type { OpenAPIObject } from 'openapi3-ts/oas31';
import { API_VERSION } from '../../shared/contract/records.ts';
import { operationIds } from '../../shared/contract/routes.ts';
import { type AnyStageName, settingsOf } from '../stages.ts';
import { guide } from './guide.ts';
import { headers } from './headers.ts';
import { paths, tags } from './operations.ts';
import { parameters, queryParameters } from './parameters.ts';
import { errorExamples, sharedResponses } from './responses.ts';
import { schemas } from './schemas.ts';

export interface DocumentOptions {
  /** Base address of the service, which ends in `/v1`. It may be a token of the CDK. */
  readonly serverUrl: string;
  readonly environment: 'local' | AnyStageName;
  /** The API key in the examples of the guide; a placeholder by default. */
  readonly exampleKey?: string | undefined;
}

/** The OpenAPI 3.1 document of the service, from the contract that it is built on. */
export function openApiDocument({ serverUrl, environment, exampleKey = '<API_KEY>' }: DocumentOptions): OpenAPIObject {
  // The local server runs the template of staging.
  const { petDeprecation } = settingsOf(environment === 'local' ? 'staging' : environment);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pet Store Inventory Service',
      version: API_VERSION,
      description: guide({ serverUrl, exampleKey, petDeprecation }),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: `The ${environment} service`, 'x-internal': false }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: paths(petDeprecation),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Your API key. It looks like `psk_` and 46 letters and digits; a key created manually can be any 20 to 128 characters.',
        },
      },
      schemas,
      parameters: { ...Object.fromEntries(operationIds.flatMap(queryParameters)), ...parameters },
      headers,
      examples: errorExamples,
      responses: sharedResponses,
    },
  };
}
