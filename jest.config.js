/** Node itself loads the tests and strips their types (test/support/native-runtime.ts); no build step, no other compiler. */
export default {
  runtime: '<rootDir>/test/support/native-runtime.ts',
  testEnvironment: '<rootDir>/test/support/test-environment.ts',
  transform: {},
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.amanah'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  testTimeout: 60_000,
  // Many tests wait for processes to come back; in full sizes they keep two cores busy by themselves.
  maxWorkers: process.env.AMANAH_FULL === '1' ? 2 : 3,
};
