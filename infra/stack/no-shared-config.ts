/**
 * Stands in for `node:fs/promises` in the bundles. The SDK looks for AWS's shared configuration files with it, and a
 * Lambda function has none.
 */
export const readFile = () => Promise.reject(new Error('The bundles read no shared configuration files'));
