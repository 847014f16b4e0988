/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  globalSetup: '<rootDir>/test/support/before-all-suites.ts',
  testSequencer: '<rootDir>/test/support/long-suites-first.js',
  // One more than the cores of a small machine: some suites do nothing but wait, for a minute to end for one.
  maxWorkers: 3,
  // Modules of a suite stay in memory after it; a worker that has too many of them is slow, and is begun anew.
  workerIdleMemoryLimit: '1GB',
  testTimeout: 30_000,
};
