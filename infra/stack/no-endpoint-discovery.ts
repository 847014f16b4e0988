/**
 * Stands in for the SDK's endpoint discovery in the bundles. Its DynamoDB client sets it up, cache and all, and no
 * command of it uses it.
 */
export function resolveEndpointDiscoveryConfig<Input>(input: Input): Input {
  return input;
}

/** Where the setting would come from. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: (): undefined => undefined,
  configFileSelector: (): undefined => undefined,
  default: false,
};
