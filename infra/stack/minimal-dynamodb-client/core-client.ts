/** The imported parts of `@smithy/core/client` and `@aws-sdk/core/client`; the rest is for the SDK's middleware. */
export { ServiceException } from '@smithy/core/dist-es/submodules/client/smithy-client/exceptions.js';
export { normalizeProvider } from '@smithy/core/transport';

/** The base class of commands. */
export const Command = Object;
export const setFeature = (): void => undefined;
export const setCredentialFeature = <Credentials>(credentials: Credentials): Credentials => credentials;
