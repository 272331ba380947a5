/** Jest strips types as Node does (test/support/strip-types.cjs); no build step, no other compiler. */
export default {
  testEnvironment: '<rootDir>/test/support/test-environment.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.cjs' },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.amanah'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testTimeout: 60_000,
  // Many tests wait for processes to come back; in full sizes they keep two cores busy by themselves.
  // A worker keeps the modules of every file that it ran: beyond this it gives way to a new one, before its heap is full.
  workerIdleMemoryLimit: '1500MB',
  maxWorkers: process.env.AMANAH_FULL === '1' ? 2 : 3,
};
