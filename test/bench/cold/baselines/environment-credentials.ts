import { requiredEnv } from '../../../../shared/environment.ts';

/** The default credential chain, cut down to what Lambda has. */
export const defaultProvider = () => () =>
  Promise.resolve({
    accessKeyId: requiredEnv('AWS_ACCESS_KEY_ID'),
    secretAccessKey: requiredEnv('AWS_SECRET_ACCESS_KEY'),
  });
