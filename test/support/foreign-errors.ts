import { types } from 'node:util';

/**
 * Makes `instanceof Error` true for the errors of Node's own modules, a refused connection, say. Jest runs a test file
 * in a realm with an `Error` of its own, so that there they are none; in a Lambda function there is one realm.
 */
export function acceptForeignErrors(): void {
  Object.defineProperty(Error, Symbol.hasInstance, {
    configurable: true,
    value(this: unknown, candidate: unknown): boolean {
      return this === Error
        ? types.isNativeError(candidate)
        : Function.prototype[Symbol.hasInstance].call(this, candidate);
    },
  });
}
