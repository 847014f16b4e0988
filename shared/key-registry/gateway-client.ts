import {
  APIGatewayClient,
  type APIGatewayClientConfig,
  NotFoundException,
  TooManyRequestsException,
} from '@aws-sdk/client-api-gateway';
import pThrottle from 'p-throttle';

/** The stage of a REST API whose usage plans and keys are those of the service. */
export interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/** AWS grants an account 10 control-plane calls a second. At this pace two syncs at once leave some to an admin. */
const inTurn = pThrottle({ limit: 10, interval: 2_500, strict: true })(() => Promise.resolve());

/** The most that one page of a list may have. */
export const PAGE_SIZE = 500;

/** The clients of API Gateway's control plane. They keep to its rates together. */
export interface GatewayClients {
  /** Reads. It waits where it is throttled all the same. */
  readonly gateway: APIGatewayClient;
  /** Changes keys. It makes each call once: one that is repeated may arrive after a later one. */
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
      // Within the retries, so that each attempt waits its turn.
      { step: 'finalizeRequest', priority: 'low', name: 'paced' },
    );
  }
  return { gateway, gatewayOnce };
}

/** The answer to a call; undefined where what the call is about is gone. */
export async function ignoreNotFound<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}
