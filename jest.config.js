import { fileURLToPath } from 'node:url';

/** Node itself loads the tests and strips their types (test/support/native-runtime.ts); no build step, no other compiler. */
const isFull = process.env.AMANAH_FULL === '1';
// Jest's workers and the commands that tests run find what the product's processes have compiled (dev/part.ts).
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/amanah/compiled', import.meta.url));

export default {
  runtime: '<rootDir>/test/support/native-runtime.ts',
  testEnvironment: '<rootDir>/test/support/test-environment.ts',
  transform: {},
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Files of `npm run test:full` alone.
  testPathIgnorePatterns: ['/node_modules/', ...(isFull ? [] : ['\\.full\\.test\\.ts$'])],
  modulePathIgnorePatterns: ['<rootDir>/.amanah'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  testTimeout: 60_000,
  // Tests mostly wait for processes and workflows; in full sizes they keep two cores busy by themselves.
  maxWorkers: isFull ? 3 : 5,
};
