import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands in for the SDK's default credential chain in the bundles. Lambda gives a function its credentials in
 * environment variables; the rest of the chain (profiles, SSO, instance metadata) is a third of the SDK's size.
 */
export const defaultProvider = () => fromEnv();
