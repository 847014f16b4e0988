import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { account, localCredentials } from '../../infra/local-endpoint.ts';

/** A client of API Gateway's API at an address. */
export function gatewayAt(endpoint: string): APIGatewayClient {
  return new APIGatewayClient({ endpoint, region: account.region, credentials: localCredentials, maxAttempts: 1 });
}
