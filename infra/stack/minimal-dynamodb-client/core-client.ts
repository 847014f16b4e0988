/** Of `@smithy/core/client` and `@aws-sdk/core/client`, what the parts import: the rest is for the SDK's middleware. */
export { ServiceException } from '@smithy/core/dist-es/submodules/client/smithy-client/exceptions.js';
export { normalizeProvider } from '@smithy/core/transport';

/** What a command extends. */
export const Command = Object;
export const setFeature = (): void => undefined;
export const setCredentialFeature = <Credentials>(credentials: Credentials): Credentials => credentials;
