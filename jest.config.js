import { fileURLToPath } from 'node:url';

/** Node itself loads the tests and strips their types (test/support/native-runtime.ts); no build step, no other compiler. */
const isFull = process.env.AMANAH_FULL === '1';
// Jest's workers and the commands that tests run share the compile cache of the product's processes (dev/part.ts).
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/amanah/compiled', import.meta.url));

export default {
  runtime: '<rootDir>/test/support/native-runtime.ts',
  testEnvironment: '<rootDir>/test/support/test-environment.ts',
  transform: {},
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Only `npm run test:full` runs these files.
  testPathIgnorePatterns: ['/node_modules/', ...(isFull ? [] : ['\\.full\\.test\\.ts$'])],
  modulePathIgnorePatterns: ['<rootDir>/.amanah'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  testTimeout: 60_000,
  // Tests mostly wait for processes and workflows; with more workers, more shared stacks have to start.
  maxWorkers: 5,
};
