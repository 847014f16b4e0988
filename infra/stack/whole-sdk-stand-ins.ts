import { fromEnv } from '@aws-sdk/credential-provider-env';

/** What bundles of the whole SDK have in the place of parts of the SDK that no function of ours uses (see bundle.ts). */

/**
 * The default credential chain. Lambda gives a function its credentials in environment variables; the rest of the chain
 * (profiles, SSO, instance metadata) is a third of the SDK's size.
 */
export const defaultProvider = () => fromEnv();

/** The constructor for operations that stream events, of which DynamoDB has none. */
export function EventStreamSerde(): never {
  throw new Error('Event streams are left out of the bundles: no DynamoDB operation uses them');
}

/** Endpoint discovery. The DynamoDB client sets it up, cache and all, and no command of it uses it. */
export function resolveEndpointDiscoveryConfig<Input>(input: Input): Input {
  return input;
}

/** Where the setting of endpoint discovery would come from. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: (): undefined => undefined,
  configFileSelector: (): undefined => undefined,
  default: false,
};
