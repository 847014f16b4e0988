/** The types of errors that this gateway makes by itself, with the status each has unless the API sets another. */
export const gatewayErrorStatuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  DEFAULT_5XX: 502,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  MISSING_AUTHENTICATION_TOKEN: 403,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
} as const satisfies Record<string, number>;

export type GatewayErrorType = keyof typeof gatewayErrorStatuses;

/** A request that the gateway answers by itself. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly type: GatewayErrorType;

  constructor(type: GatewayErrorType, message: string) {
    super(message);
    this.type = type;
  }
}
