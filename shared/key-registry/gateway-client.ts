import {
  type ApiKey,
  APIGatewayClient,
  type APIGatewayClientConfig,
  GetApiKeyCommand,
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
const PACE = { limit: 10, interval: 2_500, strict: true };

/** The most that one page of a list may have. */
export const PAGE_SIZE = 500;

/**
 * A client of API Gateway's control plane that keeps to its rates, and waits where it is throttled all the same.
 *
 * @param onThrottled called each time that happens
 */
export function gatewayClient(settings: APIGatewayClientConfig = {}, onThrottled?: () => void): APIGatewayClient {
  const client = new APIGatewayClient({ maxAttempts: 10, retryMode: 'adaptive', ...settings });
  const inTurn = pThrottle(PACE)(() => Promise.resolve());
  client.middlewareStack.add(
    (next) => async (args) => {
      await inTurn();
      try {
        return await next(args);
      } catch (error) {
        if (error instanceof TooManyRequestsException) onThrottled?.();
        throw error;
      }
    },
    // Within the retries, so that each attempt waits its turn.
    { step: 'finalizeRequest', priority: 'low', name: 'paced' },
  );
  return client;
}

/** The answer to a call; undefined where what the call is about is gone. */
export async function unlessGone<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}

/** A key, value included; undefined where there is none. */
export const getGatewayKey = (gateway: APIGatewayClient, keyId: string): Promise<ApiKey | undefined> =>
  unlessGone(gateway.send(new GetApiKeyCommand({ apiKey: keyId, includeValue: true })));
