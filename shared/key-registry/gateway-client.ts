import {
  APIGatewayClient,
  type APIGatewayClientConfig,
  NotFoundException,
  TooManyRequestsException,
} from '@aws-sdk/client-api-gateway';
import pThrottle from 'p-throttle';

/** The stage of a REST API with the service's usage plans and keys. */
export interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/** An account has 10 control-plane calls per second. At this rate two concurrent syncs leave some to an admin. */
const inTurn = pThrottle({ limit: 10, interval: 2_500, strict: true })(() => Promise.resolve());

/** Max entries per page of a list. */
export const PAGE_SIZE = 500;

/** The clients of API Gateway's control plane. They share its rate limit. */
export interface GatewayClients {
  /** For reads. Retries when throttled. */
  readonly gateway: APIGatewayClient;
  /** For changes of keys. It does not retry: a retry may arrive after a later call. */
  readonly gatewayOnce: APIGatewayClient;
}

/** @param onThrottled called each time that a read is throttled */
export function gatewayClients(settings: APIGatewayClientConfig = {}, onThrottled?: () => void): GatewayClients {
  const gateway = new APIGatewayClient({ maxAttempts: 10, retryMode: 'adaptive', ...settings });
  const gatewayOnce = new APIGatewayClient({ ...settings, maxAttempts: 1 });
  for (const client of [gateway, gatewayOnce]) {
    client.middlewareStack.add(
      (next) => async (args) => {
        await inTurn();
        try {
          return await next(args);
        } catch (error) {
          if (client === gateway && error instanceof TooManyRequestsException) onThrottled?.();
          throw error;
        }
      },
      // Within the retries, so each attempt is paced.
      { step: 'finalizeRequest', priority: 'low', name: 'paced' },
    );
  }
  return { gateway, gatewayOnce };
}

/** The response of a call; undefined if its resource no longer exists. */
export async function ignoreNotFound<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}
