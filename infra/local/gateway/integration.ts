import { EventTooLargeError, FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import { GatewayError } from './gateway-error.ts';

/**
 * Invokes a function for an AWS_PROXY integration. A function that outlasts the time-out runs on, as on AWS; only its
 * answer is no longer waited for.
 *
 * @returns the result as JSON text
 * @throws GatewayError DEFAULT_5XX (502), INTEGRATION_TIMEOUT or REQUEST_TOO_LARGE
 */
export async function integrate(lambda: LambdaFunction, event: string, timeoutMs: number): Promise<string> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new GatewayError('INTEGRATION_TIMEOUT', 'Endpoint request timed out')),
    timeoutMs,
  );
  try {
    return await Promise.race([lambda.invoke(event), timedOut]);
  } catch (error) {
    if (error instanceof FunctionError) throw new GatewayError('DEFAULT_5XX', 'Internal server error');
    if (error instanceof EventTooLargeError) throw new GatewayError('REQUEST_TOO_LARGE', 'Request Too Long');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
