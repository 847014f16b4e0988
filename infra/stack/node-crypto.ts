import { randomUUID } from 'node:crypto';

/**
 * Stands in for the global `crypto` in the bundles. The SDK takes only its random ids from there, and Node loads all of
 * Web Crypto at the first look at it.
 */
export const crypto = { randomUUID };
