/** The default credential chain, cut down to what Lambda has. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
