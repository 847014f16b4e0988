/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  watchman: false,
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  globalSetup: '<rootDir>/test/support/before-all-suites.ts',
  reporters: ['<rootDir>/test/support/progress.ts'],
  testSequencer: '<rootDir>/test/support/long-suites-first.js',
  // Two more than the cores of a small machine: some suites do little but wait, for a host that starts or a browser.
  maxWorkers: 4,
  // Modules of a suite stay in memory after it; a worker that has too many of them is slow, and is begun anew.
  workerIdleMemoryLimit: '1GB',
  // A worker of 250 MB takes 1.5 s to be torn down; after Jest's own 0.5 s every run would warn of a leak.
  workerGracefulExitTimeout: 60_000,
  // Of hooks too. Only what hangs takes so long: waits for work end earlier, and say for what (support/until.ts).
  testTimeout: 600_000,
};
