import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import type { ApiKey, UsagePlan } from '../../infra/local/control-plane/gateway-records.ts';
import { localClient } from '../../infra/local-endpoint.ts';

/** The stage that the plans of {@link aUsagePlan} are for. */
export const apiStage = { apiId: 'api', stage: 'v1' };

export const signature =
  'AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/apigateway/aws4_request, SignedHeaders=host, Signature=0';

/** An API key of the gateway, enabled, with the differences of the test. */
export function anApiKey(differences: Partial<ApiKey> = {}): ApiKey {
  const createdAt = Date.UTC(2026, 10, 21);
  const { id = 'k1' } = differences;
  return {
    id,
    value: `the-value-of-key-${id}`,
    enabled: true,
    createdAt,
    tags: {},
    ...differences,
  };
}

/** A usage plan of the one stage without any limit, with the differences of the test. */
export function aUsagePlan(differences: Partial<UsagePlan> = {}): UsagePlan {
  return { id: 'plan', name: 'staging Free', apiStages: [apiStage], tags: {}, ...differences };
}

export function gatewayAt(endpoint: string): APIGatewayClient {
  return new APIGatewayClient({ ...localClient, endpoint, maxAttempts: 1 });
}
